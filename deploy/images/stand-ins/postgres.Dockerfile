# Replaces the official image: Debian's Postgres, with the few variables that compose.yaml sets.
FROM debian:trixie-slim
# The ids of the official image, which the manifests contain.
RUN groupadd --system --gid 999 postgres && useradd --system --uid 999 --gid 999 --home-dir /var/lib/postgresql --shell /bin/bash postgres \
 && export DEBIAN_FRONTEND=noninteractive && apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends postgresql-17 > /dev/null 2>&1 && rm -rf /var/lib/apt/lists/*
ENV PATH=/usr/lib/postgresql/17/bin:$PATH PGDATA=/var/lib/postgresql/data
COPY postgres-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
# podman 4.3 follows an absolute link on the host when it copies a folder into a new volume.
RUN ln -sfn ../run /var/run && mkdir -p $PGDATA /run/postgresql && chown -R postgres $PGDATA /run/postgresql
USER postgres
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
EXPOSE 5432
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
