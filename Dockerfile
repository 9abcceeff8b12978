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
RUN npm run build

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
WORKDIR /app
COPY package.json package-lock.json LICENSE ./
RUN npm ci --omit=dev && npm cache clean --force
COPY --from=build /app/dist ./dist
COPY fixtures ./fixtures
COPY openapi ./openapi
COPY migrations ./migrations
# A new volume at /data gets this owner.
RUN mkdir /data && chown node:node /data
RUN chmod +x dist/cli.js && ln -s /app/dist/cli.js /usr/local/bin/payments-sandbox
USER node
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=3s --start-period=2s --retries=3 CMD ["payments-sandbox", "health"]
CMD ["payments-sandbox"]
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
