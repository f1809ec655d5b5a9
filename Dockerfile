# The image that the evaluator builds, and that docker_run.sh builds to rehearse it.
#
# Why this base: the wheels of torch and vLLM bring their own CUDA 12.8 libraries, so the small `base` flavour is enough (no toolkit,
# no cuDNN). Unlike a plain Ubuntu it carries NVIDIA's compatibility libraries, with which data-centre cards such as the T4 run
# CUDA 12.8 on an older driver. Other bases that work: python:3.11-slim-bookworm, a plain Debian 12.
ARG BASE_IMAGE=nvidia/cuda:12.8.1-base-ubuntu22.04
FROM ${BASE_IMAGE}

ARG PYTHON_VERSION=3.11
ARG UV_VERSION=0.13.9
ARG USER_ID=1001
ARG GROUP_ID=1001
# What pip installs: requirements.txt and all that it needs, with hashes. `make smoke`: locks/cpu.txt, which is small.
ARG REQUIREMENTS=locks/gpu.txt

# The driver of the evaluator is not known. Without this line the container runtime refuses to start the image when the driver is
# older than CUDA 12.8's own, although CUDA 12 programs run on any driver from 525 on.
ENV NVIDIA_DISABLE_REQUIRE=1 \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility \
    DEBIAN_FRONTEND=noninteractive \
    LANG=en_US.UTF-8 \
    LC_ALL=en_US.UTF-8 \
    PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1

# apt.txt: one package a line. A carriage return at a line's end would become part of the package's name, hence `tr`.
COPY apt.txt /tmp/apt.txt
RUN apt-get update \
    && tr -d '\r' < /tmp/apt.txt | xargs apt-get install --yes --no-install-recommends ca-certificates locales python3-venv \
    && sed -i 's/# en_US.UTF-8 UTF-8/en_US.UTF-8 UTF-8/' /etc/locale.gen \
    && locale-gen \
    && rm -rf /var/lib/apt/lists/* /tmp/apt.txt

# Where the base has no Python 3.11, uv brings its self-contained build: Ubuntu 22.04 has only a release candidate of it, and
# third-party package archives change or vanish. It lies outside any home, so that every user of the container can run it. uv has an
# environment of its own, because Debian's pip installs nowhere else.
ENV UV_PYTHON_INSTALL_DIR=/opt/python
RUN python3 -m venv /opt/uv \
    && /opt/uv/bin/pip install uv==${UV_VERSION} \
    && /opt/uv/bin/uv venv --seed --python ${PYTHON_VERSION} /opt/venv
ENV PATH=/opt/venv/bin:${PATH} VIRTUAL_ENV=/opt/venv

COPY locks /tmp/locks
RUN python -m pip install --require-hashes --no-deps -r /tmp/${REQUIREMENTS} && rm -rf /tmp/locks

# The user that the evaluator expects.
RUN groupadd --gid ${GROUP_ID} aicrowd \
    && useradd --uid ${USER_ID} --gid ${GROUP_ID} --create-home --shell /bin/bash aicrowd
COPY --chown=1001:1001 . /home/aicrowd/
USER aicrowd
WORKDIR /home/aicrowd

# Nothing is downloaded at run time, and nobody is told about it.
ENV HF_HUB_OFFLINE=1 \
    ORT_DISABLE_TELEMETRY=1 \
    VLLM_NO_USAGE_STATS=1 \
    TOKENIZERS_PARALLELISM=false

CMD ["python", "local_evaluation.py", "--help"]
