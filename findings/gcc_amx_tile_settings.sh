#!/usr/bin/env bash
# GCC: settings of AMX tiles in a local variable do not reach the processor.
#
# Guessed before the run: `_tile_loadconfig(&settings)` reads the 64 bytes of the settings, so all stores before it stay.
# Seen (Debian's GCC 12.2, with optimisation): its intrinsic declares 8 of the 64 bytes as read, so the stores to the
# others are dropped as dead. Rows and columns of all tiles are then 0, and the next tile instruction ends the process with
# SIGILL. With -fno-dse -fno-tree-dse the stores stay.
# What it means: llama.cpp (llama-cpp-python 0.3.36), compiled with GCC for a processor with AMX, dies at its first prompt.
# This machine needs no AMX: the script reads what the compiler writes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/tile.cpp" <<'CPP'
#include <immintrin.h>

struct Settings { unsigned char palette, start, none[14]; unsigned short columns[16]; unsigned char rows[16]; };

void load() {
    alignas(64) Settings settings = {};
    settings.palette = 1;
    settings.columns[0] = 12345;
    _tile_loadconfig(&settings);
}
CPP
dropped=$(g++ -O2 -mamx-tile -S -o - "$folder/tile.cpp" | grep -c 12345 || true)
kept=$(g++ -O2 -mamx-tile -fno-dse -fno-tree-dse -S -o - "$folder/tile.cpp" | grep -c 12345 || true)
[ "$dropped" = 0 ] && [ "$kept" = 1 ]
echo "as described: the store is dropped, and kept with -fno-dse -fno-tree-dse"
