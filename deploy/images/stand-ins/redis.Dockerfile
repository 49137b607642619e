# Replaces the official image: Debian's Redis.
FROM debian:trixie-slim
RUN export DEBIAN_FRONTEND=noninteractive && apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends redis-server > /dev/null 2>&1 && rm -rf /var/lib/apt/lists/*
USER redis
EXPOSE 6379
CMD ["redis-server", "--bind", "*", "-::*", "--protected-mode", "no"]
