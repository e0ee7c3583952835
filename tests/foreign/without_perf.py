#!/usr/bin/env python3
"""without_perf.py COMMAND ...: runs it behind a seccomp filter that refuses perf_event_open, as Docker's does."""
import ctypes
import os
import struct
import sys

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
FILTER_MODE = 2
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBER_AT, ARCHITECTURE_AT = 0, 4  # in struct seccomp_data
X86_64, PERF_EVENT_OPEN = 0xC000003E, 298
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 1  # with EPERM


def instruction(code, value, if_true=0, if_false=0):
    return struct.pack("HBBI", code, if_true, if_false, value)


def install():
    code = b"".join([instruction(LOAD_WORD, ARCHITECTURE_AT), instruction(JUMP_IF_EQUAL, X86_64, 0, 3),
                     instruction(LOAD_WORD, NUMBER_AT), instruction(JUMP_IF_EQUAL, PERF_EVENT_OPEN, 0, 1),
                     instruction(RETURN, REFUSE), instruction(RETURN, ALLOW)])
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    for words in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, FILTER_MODE, program)):
        if libc.prctl(*words) != 0:
            raise OSError(ctypes.get_errno(), f"prctl({words[0]})")


if __name__ == "__main__":
    install()
    os.execvp(sys.argv[1], sys.argv[1:])
