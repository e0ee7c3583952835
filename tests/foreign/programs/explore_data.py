# python: torch
# expected: healthy
# verdict: not-started
# seconds: 18
# Why: what a notebook's kernel does most of the day: torch is loaded, data lies in memory, and it waits for the user's
# next cell. Nothing was asked of it, so nothing is stuck: not-started.
import os
import select
import socket

import torch

frames = torch.randn(1000, 64)
print("mean", frames.mean().item(), flush=True)
ours, theirs = socket.socketpair()
while True:
    readable, _, _ = select.select([ours], [], [])
    if not readable[0].recv(4096):
        os._exit(0)
