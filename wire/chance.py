"""Chance, counted: a number is a pure function of seed, vid, stream and draw.

Nobody's luck depends on who else is there or on how a vehicle is hosted. The arithmetic stays within the low 32 bits,
so that Python's integers and the 64-bit integers of compiled code agree to the bit.
"""

from typing import Final

LOW: Final = 0xFFFFFFFF


def mix(h: int) -> int:
    """A bijection on 32 bits in which every input bit reaches every output bit (two multiply-xorshift rounds)."""
    h = ((h ^ (h >> 16)) * 0x7FEB352D) & LOW
    h = ((h ^ (h >> 15)) * 0x846CA68B) & LOW
    return h ^ (h >> 16)


def uniform(seed: int, vid: int, stream: int, draw: int) -> float:
    """The draw-th number in [0, 1) of a vehicle's stream, with 53 random bits."""
    h = mix((seed & LOW) ^ 0x9E3779B9)
    h = mix(h ^ (vid & LOW))
    h = mix((h + (stream & LOW)) & LOW)
    high = mix(h ^ (draw & LOW))
    low = mix((high + h) & LOW)
    return ((high >> 5) * 67108864.0 + (low >> 6)) / 9007199254740992.0
