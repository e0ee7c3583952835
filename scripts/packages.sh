# Sourced. What the packages are called here, by the name of the system in /etc/os-release.
# known: does this script know it? With it: clang_version, and the names that differ from release to release.
system=$( . "${OS_RELEASE:-/etc/os-release}" 2>/dev/null; echo "${ID:-unknown} ${VERSION_ID:-}")
known=yes
case $system in
  "debian 12") clang_version=14 ffmpeg=(libavdevice59 libavfilter8) python_library=libpython3.11 ;;
  "debian 13") clang_version=19 ffmpeg=(libavdevice61 libavfilter10) python_library=libpython3.13 ;;
  "ubuntu 22.04") clang_version=14 ffmpeg=(libavdevice58 libavfilter7) python_library=libpython3.10 ;;
  "ubuntu 24.04") clang_version=18 ffmpeg=(libavdevice60 libavfilter9) python_library=libpython3.12 ;;
  *) known= clang_version=14 ffmpeg=() python_library=libpython3-dev ;;
esac

tools=(git make g++ cmake ninja-build ccache python3 python3-venv ca-certificates)
clang=(clang-$clang_version libclang-rt-$clang_version-dev llvm-$clang_version)
libraries=(libfmt-dev libjpeg-dev libdeflate-dev libdw-dev libisal-dev libprotozero-dev
           libhwy-dev libcli11-dev nlohmann-json3-dev libxxhash-dev libgtest-dev
           libgmock-dev zlib1g-dev)
# OpenBLAS with OpenMP: its threads are libtorch's own, so that the two do not fight for the cores.
torch=(libtorch-dev libopenblas0-openmp)
dev=(clang-format-$clang_version clang-tidy-$clang_version clang-tools-$clang_version)
bench=(python3-torch python3-torchvision libopencv-dev "${ffmpeg[@]}" $python_library)
foreign=(python3-torch python3-pil util-linux)
browser=(chromium)

# Ubuntu has no libtorch: it comes with PyTorch, by pip (libtorch_setup.sh).
if [[ $system == ubuntu* ]]; then
  torch=()
  bench=(python3-pip libopencv-dev "${ffmpeg[@]}" $python_library)
  foreign=(python3-pil util-linux)
  browser=()  # Ubuntu's is a snap, which needs a service of its own: tests of pages are skipped
fi
if [[ $system == "ubuntu 22.04" ]]; then
  clang=(clang-14 libclang-common-14-dev llvm-14)  # with the sanitizers' libraries
  tools+=(g++-12)                                  # its g++ is 11
fi
