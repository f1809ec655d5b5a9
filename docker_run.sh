#!/usr/bin/env bash
# Build the image and run the checkout in it, as the evaluator does: mounted at /submission, user without privileges.
#
#   ./docker_run.sh --smoke [PRESET]           four questions (default: with cpu's models), no network; says whether it works
#   ./docker_run.sh [ARGUMENTS ...]            python local_evaluation.py ARGUMENTS
#   ./docker_run.sh --no-build ...             with the image as it is
#
# docker, else podman; as root on Debian, podman is installed where both are missing.
# Passed on when set: CRAG_MOCK_API_URL, CRAG_LLM_URL, OPENAI_BASE_URL (localhost becomes the host's address), CRAG_PRESET,
# CRAG_SETTINGS, CRAG_LLM_MODEL, OPENAI_API_KEY, EVALUATION_MODEL_NAME.
# Also read: CRAG_IMAGE (name of the image), CRAG_MODELS_DIR (weights, default the cache),
# REQUIREMENTS (the lock that pip installs, see Dockerfile), BUILD_OPTIONS (further options of `docker build`), BASE_IMAGE (its base;
# debian: made here by debootstrap, for a machine without a registry).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

image="${CRAG_IMAGE:-crag-submission}"
weights="${CRAG_MODELS_DIR:-${HOME:-}/.cache/crag-models}"
base="${BASE_IMAGE:-}"
smoke=false
build=true
while [ $# -gt 0 ]; do
    case "$1" in
        --smoke) smoke=true; shift ;;
        --no-build) build=false; shift ;;
        -h|--help) sed -n '2,14s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) break ;;
    esac
done
if [ "$smoke" = true ] && [ $# -gt 1 ]; then
    echo "docker_run.sh: --smoke takes a preset and no further arguments, got: $*" >&2
    exit 2
fi
if [ "$smoke" = true ] && [ ! -f "crag/presets/${1:-cpu}.toml" ] && [ ! -f "${1:-cpu}" ]; then
    presets="$(cd crag/presets && printf '%s ' *.toml)"
    echo "docker_run.sh: there is no preset '$1'; shipped presets: ${presets//.toml/}" >&2
    exit 2
fi
if [ "$smoke" = true ] && [ ! -d "$weights" ]; then
    echo "docker_run.sh: no weights in $weights; get them with: crag models fetch ${1:-cpu}" >&2
    exit 1
fi

can_install() { [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; }
install() {
    echo "docker_run.sh: installing $*" >&2
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"; } > /dev/null
}

if docker info > /dev/null 2>&1 && ! docker --version | grep -q podman; then
    engine=(docker)
    build_flags=()
else
    command -v podman > /dev/null || ! can_install || install podman runc
    if ! command -v podman > /dev/null; then
        echo "docker_run.sh: neither docker nor podman works here (Debian, as root: apt-get install podman runc)" >&2
        exit 1
    fi
    if [ "$(id -u)" = 0 ] && command -v runc > /dev/null; then
        export CONTAINERS_CONF="${CONTAINERS_CONF:-$PWD/crag/submission/containers.conf}"
    fi
    engine=(podman)
    build_flags=(--network host)
fi

if [ "$build" = true ]; then
    if [ "$base" = debian ]; then
        base=localhost/crag-base-debian
        if ! "${engine[@]}" image inspect "$base" > /dev/null 2>&1; then
            PATH="$PATH:/usr/sbin"  # where debootstrap is; `su` leaves it out
            command -v debootstrap > /dev/null || install debootstrap
            rootfs="$(mktemp -d)"
            debootstrap --variant=minbase --include=ca-certificates bookworm "$rootfs" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} > /dev/null
            tar --create --directory "$rootfs" . | "${engine[@]}" import - "$base"
            rm -rf "$rootfs"
        fi
    fi
    # shellcheck disable=SC2206 # options are words
    build_options=(--tag "$image" "${build_flags[@]}" ${BUILD_OPTIONS:-})
    [ -z "$base" ] || build_options+=(--build-arg "BASE_IMAGE=$base")
    [ -z "${REQUIREMENTS:-}" ] || build_options+=(--build-arg "REQUIREMENTS=$REQUIREMENTS")
    "${engine[@]}" build "${build_options[@]}" .
fi

# The caller's user id, because results are written into the mounted checkout; a name, because torch asks for one.
options=(--rm --ipc=host --user "$(id -u):$(id -g)" --env HOME=/tmp --env USER=aicrowd
    --volume "$PWD:/submission" --workdir /submission)
if [ -d "$weights" ]; then
    options+=(--volume "$weights:/weights:ro" --env CRAG_MODELS_DIR=/weights)
fi

if [ "$smoke" = true ]; then
    "${engine[@]}" run "${options[@]}" --network none "$image" \
        python local_evaluation.py --preset "${1:-cpu}" --dataset data/sample/questions.jsonl --limit 4 \
        --output results/docker-smoke --overwrite --stop-after-lost 0 || [ $? -eq 3 ]  # 3: some answers were lost
    exec "${engine[@]}" run "${options[@]}" --network none "$image" python -c 'import json; run = json.load(open("results/docker-smoke/results.json")); assert sum(run["lost"].values()) < run["n"], "smoke: every answer was lost: see results/docker-smoke"'
fi

options+=(--add-host host.docker.internal:host-gateway)
# Inside the container localhost is the container itself. The scheme may be missing, and a user may stand before the host.
of_this_machine='^([^/]*//)?([^/@]*@)?(localhost|127\.0\.0\.1)([:/].*)?$'
for name in CRAG_MOCK_API_URL CRAG_LLM_URL OPENAI_BASE_URL; do
    if [[ "${!name:-}" =~ $of_this_machine ]]; then
        export "$name=${BASH_REMATCH[1]}${BASH_REMATCH[2]}host.docker.internal${BASH_REMATCH[4]}"
    fi
done
for name in CRAG_MOCK_API_URL CRAG_LLM_URL OPENAI_BASE_URL CRAG_PRESET CRAG_SETTINGS CRAG_LLM_MODEL OPENAI_API_KEY EVALUATION_MODEL_NAME; do
    if [ -n "${!name:-}" ]; then
        options+=(--env "$name")  # by name only, so that no secret shows in the process list
    fi
done
runtimes="$("${engine[@]}" info --format '{{json .Runtimes}}' 2> /dev/null || true)"
if [[ "$runtimes" == *nvidia* ]]; then
    options+=(--gpus all)
else
    echo "docker_run.sh: ${engine[*]} knows no NVIDIA runtime, running without GPU" >&2
fi
exec "${engine[@]}" run "${options[@]}" "$image" python local_evaluation.py "$@"
