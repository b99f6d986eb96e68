"""Signatures of bundles by Ed25519: who packed it, and nothing about how it was produced."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentenv.errors import BadCall

SIGNATURE = "signature.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Of a manifest's bytes; both in hexadecimal."""

    public_key: str
    signature: str


def new_key(path: Path) -> str:
    """Write a new private key to `path`, readable by its owner alone; its public key."""
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    data = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise BadCall(f"{path} is there already; keys are never written over") from None
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    return _public(key)


def sign(data: bytes, path: Path) -> Signature:
    """The signature by the key of a file that its owner alone can read."""
    key = _private(path)
    return Signature(public_key=_public(key), signature=key.sign(data).hex())


def signed_by(data: bytes, signature: Signature) -> str:
    """The public key whose signature of `data` this is; empty when it is not."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature.public_key))
        public.verify(bytes.fromhex(signature.signature), data)
    except (InvalidSignature, ValueError):
        return ""
    return signature.public_key


def _private(path: Path) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        mode = path.stat().st_mode
        if stat.S_IMODE(mode) & 0o077:
            raise BadCall(f"{path}: others can read this key; chmod 600 {path}")
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as exc:
        raise BadCall(f"{path}: not a private key: {exc}; agentenv eval key FILE makes one") from exc
    if not isinstance(key, Ed25519PrivateKey):
        raise BadCall(f"{path}: not an Ed25519 key; agentenv eval key FILE makes one")
    return key


def _public(key: Any) -> str:
    return str(key.public_key().public_bytes_raw().hex())
