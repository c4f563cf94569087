# Images of a node (the default target) and of a member of its grid (target `member`).
# docs/deployment.md tells how to build and run them; scripts/deployment.test.ts runs the steps of the node's.

# The packages and the build, then without what only the build needs.
FROM node:20-bookworm-slim AS build
ENV ONNXRUNTIME_NODE_INSTALL=skip
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY proto proto
COPY grid grid
COPY runtime runtime
COPY clients clients
COPY evaluation evaluation
COPY simulation simulation
RUN node scripts/build.mjs
RUN npm prune --omit=dev
# The runtime of the embedding model comes for every platform; this image has one.
RUN find node_modules/onnxruntime-node/bin -mindepth 3 -maxdepth 3 -type d ! -path "*/linux/$(node -p process.arch)" -exec rm -r {} +

# The embedding model. MODEL=none leaves it out: then only exact repeats are answered from memory.
FROM node:20-bookworm-slim AS model
ARG MODEL=fetch
ARG REPRISE_MODEL_BASE_URL=
WORKDIR /app
COPY scripts/fetch-model.mjs scripts/fetch-model.mjs
COPY scripts/lib/embedding-model.mjs scripts/lib/download.mjs scripts/lib/zip-entry.mjs scripts/lib/
RUN node scripts/fetch-model.mjs "$MODEL" /app/models

# A member of the grid: Hazelcast as it comes from Maven, with the configuration of this repository.
FROM maven:3.9-eclipse-temurin-17 AS member-jar
WORKDIR /build
COPY grid/hazelcast/member/pom.xml pom.xml
RUN mvn -q -B dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=/build/lib

FROM eclipse-temurin:17-jre AS member
WORKDIR /opt/reprise
COPY --from=member-jar /build/lib lib
COPY grid/hazelcast/member/hazelcast.yaml hazelcast.yaml
# Members listen to whoever reaches them, and know no users: give them a network of their own.
EXPOSE 5701
USER 1000:1000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/5701"]
# What Hazelcast wants opened on Java 17; JDK_JAVA_OPTIONS brings the rest.
ENTRYPOINT ["java", "-XX:+ExitOnOutOfMemoryError", "--add-modules=java.se", \
  "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED", \
  "--add-opens=java.base/java.lang=ALL-UNNAMED", \
  "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", \
  "--add-opens=java.management/sun.management=ALL-UNNAMED", \
  "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED", \
  "-Dhazelcast.config=/opt/reprise/hazelcast.yaml", \
  "-cp", "/opt/reprise/lib/*", "com.hazelcast.core.server.HazelcastMemberStarter"]

# A node.
FROM node:20-bookworm-slim AS node
ENV NODE_ENV=production \
    REPRISE_CONFIG=/etc/reprise/reprise.yaml
WORKDIR /app
COPY package.json LICENSE ./
COPY calibration calibration
COPY scripts/reprise.mjs scripts/reprise.mjs
COPY scripts/lib/setup.mjs scripts/lib/setup.mjs
COPY deploy/reprise.yaml /etc/reprise/reprise.yaml
COPY --from=model /app/models models
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
RUN install -d -m 0700 -o 1000 -g 1000 /var/lib/reprise
VOLUME /var/lib/reprise
# HTTP with /healthz, /readyz and /metrics; gRPC.
EXPOSE 8080 50051
USER 1000:1000
# Node handles it itself: running requests finish within server.drainMs.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.REPRISE_HTTP_PORT || 8080}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/runtime/host/main.js"]
