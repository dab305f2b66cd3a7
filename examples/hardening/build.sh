#!/bin/sh
# build.sh NAME PROGRAM OPTIONS: compiles out/PROGRAM.NAME from Debian's sources, by clang where NAME begins with it.
# Run it beside them. Programs newer than this file, with the same options, are kept.
set -eu
name=$1 program=$2 options=$3
# What distributions switch on by themselves is off, so that each treatment adds what it says.
plain="-O2 -g -w -U_FORTIFY_SOURCE -fno-stack-protector -fcf-protection=none -ftrivial-auto-var-init=uninitialized"
case $name in
  clang-*) compiler=${CLANG:-clang} ;;
  *) compiler=${CC:-gcc} ;;
esac
mkdir -p out
made=out/$program.$name
if [ -x "$made" ] && [ -n "$(find "$made.options" -newer build.sh 2>/dev/null)" ] &&
  [ "$(cat "$made.options")" = "$options" ]; then
  exit
fi

compile() { # ARGUMENTS: sources and options of the program
  # shellcheck disable=SC2086 # lists, the compiler too: "ccache gcc"
  $compiler $plain $options -o "$made" "$@" -lstdc++ -lm
  printf %s "$options" > "$made.options"
}

case $program in
  bzip2)
    sources="blocksort huffman crctable randtable compress decompress bzlib bzip2"
    # shellcheck disable=SC2046,SC2086
    compile $(printf 'bzip2/%s.c ' $sources)
    ;;
  expat)
    compile -DXML_DEV_URANDOM -DBYTEORDER=1234 -DXML_NS -DXML_DTD -DXML_CONTEXT_BYTES=1024 -DHAVE_UNISTD_H \
      -DHAVE_FCNTL_H -DHAVE_MMAP -Iexpat/expat/lib expat/expat/lib/xmlparse.c expat/expat/lib/xmlrole.c \
      expat/expat/lib/xmltok.c expat/expat/xmlwf/xmlwf.c expat/expat/xmlwf/xmlfile.c \
      expat/expat/xmlwf/codepage.c expat/expat/xmlwf/unixfilemap.c
    ;;
  libdeflate)
    compile -D_FILE_OFFSET_BITS=64 -D_GNU_SOURCE -Ilibdeflate libdeflate/lib/*.c libdeflate/lib/x86/*.c \
      libdeflate/programs/gzip.c libdeflate/programs/prog_util.c libdeflate/programs/tgetopt.c
    ;;
  lua)
    rm -f lua5.4/src/luac.c # another program
    compile -DLUA_USE_POSIX lua5.4/src/*.c
    ;;
  lz4)
    compile -DXXH_NAMESPACE=LZ4_ -Ilz4/lib lz4/lib/*.c lz4/programs/bench.c lz4/programs/datagen.c \
      lz4/programs/lz4cli.c lz4/programs/lz4io.c
    ;;
  lzip) compile -DPROGVERSION='"1"' lzip/*.cc ;;
  md4c) compile -DMD_VERSION_MAJOR=0 -DMD_VERSION_MINOR=0 -DMD_VERSION_RELEASE=0 -Imd4c/src md4c/*/*.c ;;
  mujs) compile mujs/one.c mujs/main.c ;;
  sqlite) compile -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -Isqlite sqlite/sqlite3.c queries.c ;;
  zlib) compile -D_LARGEFILE64_SOURCE=1 -DHAVE_UNISTD_H -Izlib zlib/*.c zlib/test/minigzip.c ;;
  zopfli) compile zopfli/src/zopfli/*.c ;;
  zstd)
    compile -DXXH_NAMESPACE=ZSTD_ -DZSTD_DISABLE_ASM -DZSTD_LEGACY_SUPPORT=0 -DBACKTRACE_ENABLE=0 \
      libzstd/lib/common/*.c libzstd/lib/compress/*.c libzstd/lib/decompress/*.c libzstd/lib/dictBuilder/*.c \
      libzstd/programs/*.c
    ;;
  *)
    echo "build.sh does not know $program" >&2
    exit 1
    ;;
esac
