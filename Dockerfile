# The output of the build is the same on each platform.
FROM --platform=$BUILDPLATFORM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json ./
COPY src ./src
COPY scripts ./scripts
COPY docs ./docs
COPY skills ./skills
COPY README.md ./
RUN npm run build && rm dist/*/*.map

# The packages that are not in the bundle. One has a native module, so this stage runs on the platform of the image.
FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts ./scripts
RUN node scripts/unbundled.js && npm install --omit=dev --no-audit --no-fund

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist/licenses.txt ./dist/
COPY --from=build /app/dist/assets ./dist/assets
COPY --from=build /app/dist/bin ./dist/bin
COPY fixtures ./fixtures
COPY openapi ./openapi
COPY migrations ./migrations
# A new volume at /data gets this owner.
RUN mkdir /data && chown node:node /data && ln -s /app/dist/bin/cli.js /usr/local/bin/payments-sandbox
USER node
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=3s --start-period=2s --retries=3 CMD ["payments-sandbox", "health"]
# `docker run IMAGE --port 9000` and `docker run IMAGE health` give arguments to the program.
ENTRYPOINT ["payments-sandbox"]
# https://github.com/opencontainers/image-spec/blob/main/annotations.md
ARG VERSION=unreleased
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="Payments Sandbox" \
      org.opencontainers.image.description="A stateful, deterministic sandbox server for a payments interface" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.source="$SOURCE"
