#!/usr/bin/env bash
# Build the image and run the checkout in it, as the evaluator does: mounted at /submission, user without privileges.
#
#   ./docker_run.sh --smoke                    four questions with the small models, no network; says whether the image works
#   ./docker_run.sh [ARGUMENTS ...]            python local_evaluation.py ARGUMENTS
#   ./docker_run.sh --no-build ...             with the image as it is
#
# Passed on when set: CRAG_MOCK_API_URL (localhost becomes the host's address), CRAG_PRESET, OPENAI_API_KEY,
# EVALUATION_MODEL_NAME. Also read: CRAG_IMAGE (name of the image), BASE_IMAGE, CRAG_MODELS_DIR (weights, default the cache).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

image="${CRAG_IMAGE:-crag-submission}"
weights="${CRAG_MODELS_DIR:-$HOME/.cache/crag-models}"
smoke=false
build=true
while [ $# -gt 0 ]; do
    case "$1" in
        --smoke) smoke=true; shift ;;
        --no-build) build=false; shift ;;
        -h|--help) sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) break ;;
    esac
done
if [ "$smoke" = true ] && [ $# -gt 0 ]; then
    echo "docker_run.sh: --smoke takes no further arguments, got: $*" >&2
    exit 2
fi
if ! command -v docker > /dev/null; then
    echo "docker_run.sh: docker is not installed" >&2
    exit 1
fi

if [ "$build" = true ]; then
    build_options=(--tag "$image")
    if [ -n "${BASE_IMAGE:-}" ]; then
        build_options+=(--build-arg "BASE_IMAGE=$BASE_IMAGE")
    fi
    docker build "${build_options[@]}" .
fi

# The caller's user id, because results are written into the mounted checkout; a name, because torch asks for one.
options=(--rm --ipc=host --user "$(id -u):$(id -g)" --env HOME=/tmp --env USER=aicrowd
    --volume "$PWD:/submission" --workdir /submission)
if [ -d "$weights" ]; then
    options+=(--volume "$weights:/weights:ro" --env CRAG_MODELS_DIR=/weights)
fi

if [ "$smoke" = true ]; then
    if [ ! -d "$weights" ]; then
        echo "docker_run.sh: no weights in $weights; get them with: python -m models.fetch cpu" >&2
        exit 1
    fi
    exec docker run "${options[@]}" --network none "$image" \
        python local_evaluation.py --preset cpu --dataset data/sample/questions.jsonl --limit 4 \
        --output results/docker-smoke --overwrite
fi

options+=(--add-host host.docker.internal:host-gateway)
if [ -n "${CRAG_MOCK_API_URL:-}" ]; then
    # Inside the container localhost is the container itself.
    url="${CRAG_MOCK_API_URL/\/\/localhost/\/\/host.docker.internal}"
    url="${url/\/\/127.0.0.1/\/\/host.docker.internal}"
    options+=(--env "CRAG_MOCK_API_URL=$url")
fi
for name in CRAG_PRESET OPENAI_API_KEY EVALUATION_MODEL_NAME; do
    if [ -n "${!name:-}" ]; then
        options+=(--env "$name")  # by name only, so that no secret shows in the process list
    fi
done
runtimes="$(docker info --format '{{json .Runtimes}}' 2> /dev/null || true)"
if [[ "$runtimes" == *nvidia* ]]; then
    options+=(--gpus all)
else
    echo "docker_run.sh: docker knows no NVIDIA runtime, running without GPU" >&2
fi
exec docker run "${options[@]}" "$image" python local_evaluation.py "$@"
