# The server over HTTP in a container. User 1000 must be able to read the file of the key.
#   docker build --tag cpq-mcp .
#   docker run --detach --name cpq-mcp --publish 127.0.0.1:3333:3333 --volume cpq-mcp:/var/lib/cpq-mcp \
#     --volume "$PWD/cpq.key:/run/secrets/cpq-key:ro" --env CPQ_API_KEY_FILE=/run/secrets/cpq-key \
#     --env CPQ_BASE_URL=https://tenant.example.com --env CPQ_AUTH=token cpq-mcp
#   docker exec cpq-mcp node /app/dist/cpq-mcp.js token add anna
# The volume `cpq-mcp` holds access tokens, journal, events and history. Without `--volume` each container starts
# with an empty one.
# It listens on all addresses of the container, and so does not start without CPQ_AUTH. For the embedded tenant, which
# needs SQLite, build with --build-arg SQLITE=1, and run with --env CPQ_SANDBOX=1 instead of address and key.
ARG NODE=24

# The build runs on any platform; only this stage has the build tools.
FROM node:${NODE}-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/build.mjs

# The package of the embedded tenant, if it is asked for.
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
