# The bundle holds all that the server needs, so the image has Node, three folders and no package manager's output.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY fixtures ./fixtures
COPY scripts ./scripts
COPY src ./src
RUN npm run build

FROM node:24-slim
# The young generation of the heap: Node 24 would let it grow to four times this, for a few per cent more requests a second.
ENV NODE_ENV=production NODE_OPTIONS=--max-semi-space-size=16 HOST=0.0.0.0 PORT=8080
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/dist ./dist
COPY LICENSE ./
COPY fixtures ./fixtures
RUN ln -s /app/dist/main.js /usr/local/bin/payments-sandbox
USER node
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=3s --start-period=2s --retries=3 CMD ["payments-sandbox", "health"]
CMD ["payments-sandbox"]
