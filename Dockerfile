# The server in a container, over HTTP. The embedded tenant needs SQLite: build with --build-arg SQLITE=1.
ARG NODE=24

# The build runs on any platform; only this stage has the build tools.
FROM node:${NODE}-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/build.mjs

# A native package, installed for the platform that it will run on.
FROM node:${NODE}-alpine AS sqlite
ARG SQLITE=0
WORKDIR /app
COPY package.json package-lock.json ./
RUN mkdir node_modules && if [ "$SQLITE" = 1 ]; then npm ci --omit=dev --ignore-scripts; fi

FROM node:${NODE}-alpine
ENV NODE_ENV=production \
    CPQ_HTTP_HOST=0.0.0.0 \
    CPQ_HTTP_PORT=3333 \
    CPQ_STATE_DIR=/var/lib/cpq-mcp
RUN mkdir /var/lib/cpq-mcp && chown node:node /var/lib/cpq-mcp
WORKDIR /app
COPY LICENSE package.json ./
COPY --from=sqlite /app/node_modules ./node_modules
COPY --from=build /build/dist ./dist
USER node
VOLUME /var/lib/cpq-mcp
EXPOSE 3333
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.CPQ_HTTP_PORT + '/healthz').then((it) => process.exit(it.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/cpq-mcp.js"]
CMD ["http"]
