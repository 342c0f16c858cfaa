"""
Made credentials, none of which is anybody's: random, from a seed, so that no file of the repository holds one.

A scanner of a forge would refuse to take such a file.
"""

import base64
import json
import random
import string
from collections.abc import Callable, Mapping

LOWER_HEX = "0123456789abcdef"
WORD = string.ascii_letters + string.digits
SAFE = WORD + "-_"
WIDE = WORD + "+/"
HUMAN = ("Tr0ub4dor", "blueWhale42", "korb!Nacht7", "ziegel-9-Dach", "Sommer#2031", "q7Lampe", "vogel88zug")


class Maker:
    """Makes credentials of every kind; the same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self, alphabet: str, length: int) -> str:
        """Return random characters."""
        return "".join(self.random.choice(alphabet) for _ in range(length))

    def segment(self, values: object) -> str:
        """Return a part of a JSON web token."""
        return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")

    def jwt(self) -> str:
        """Return a JSON web token."""
        head = self.segment({"alg": "HS256", "typ": "JWT"})
        return f"{head}.{self.segment({'sub': self.text(string.digits, 10)})}.{self.text(SAFE, 43)}"

    def private_key(self) -> str:
        """Return a private key in PEM."""
        body = "\n".join(self.text(WIDE, 64) for _ in range(12))
        return f"-----BEGIN {'RSA '}PRIVATE KEY-----\n{body}\n-----END {'RSA '}PRIVATE KEY-----"

    def password(self) -> str:
        """Return a password as people choose them."""
        return self.random.choice(HUMAN) + self.text(string.digits, 1)

    def aws(self) -> str:
        """Return both halves of an AWS key."""
        return f"{'AKIA'}{self.text(string.ascii_uppercase + '234567', 16)} {self.text(WIDE, 40)}"


# By kind: a text as somebody would write it down, and the secret in it.
KINDS: Mapping[str, Callable[[Maker], tuple[str, str]]] = {
    "aws id": lambda made: around("boto fails with {}", f"{'AKIA'}{made.text(string.ascii_uppercase + '234567', 16)}"),
    "aws secret": lambda made: around("aws_secret_access_key = {}", made.text(WIDE, 40)),
    "aws pair": lambda made: around("keys: {} in the sandbox", made.aws()),
    "github classic": lambda made: around("git push with {} is denied", f"{'ghp'}_{made.text(WORD, 36)}"),
    "github fine-grained": lambda made: around("use {}", f"{'github'}_pat_{made.text(WORD, 22)}_{made.text(WORD, 59)}"),
    "gitlab": lambda made: around("the job has {}", f"{'glpat'}-{made.text(SAFE, 20)}"),
    "slack": lambda made: around(
        "post with {}", f"{'xoxb'}-{made.text(string.digits, 12)}-{made.text(string.digits, 12)}-{made.text(WORD, 24)}"
    ),
    "stripe": lambda made: around("charge({})", f"{'sk'}_live_{made.text(WORD, 24)}"),
    "anthropic": lambda made: around("x-api-key is {}", f"{'sk'}-ant-api03-{made.text(SAFE, 93)}AA"),
    "openai": lambda made: around("the call with {} is slow", f"{'sk'}-proj-{made.text(SAFE, 64)}"),
    "google": lambda made: around("maps?key={}", f"{'AIza'}{made.text(SAFE, 35)}"),
    "hugging face": lambda made: around("hub login {}", f"{'hf'}_{made.text(string.ascii_letters, 34)}"),
    "npm": lambda made: around("//registry.npmjs.org/:_authToken={}", f"{'npm'}_{made.text(WORD, 36)}"),
    "pypi": lambda made: around("twine -p {}", f"{'pypi'}-AgEIcHlwaS5vcmc{made.text(SAFE, 90)}"),
    "jwt": lambda made: around("the cookie {} has expired", made.jwt()),
    "private key": lambda made: around("the server has\n{}", made.private_key()),
    "url password": lambda made: around("psql postgres://app:{}@db.internal:5432/shop", made.password()),
    "password =": lambda made: around("DB_PASSWORD={} in .env", made.password()),
    "bearer": lambda made: around("curl -H 'Authorization: Bearer {}' fails", made.text(WORD, 40)),
    "*_API_KEY=": lambda made: around('export MAPS_API_KEY="{}"', made.text(WORD, 32)),
    "prose": lambda made: around("The password for the staging database is {}, ask Ann.", made.password()),
}


def around(text: str, secret: str) -> tuple[str, str]:
    """Return a text with a secret in it, and the secret."""
    return text.format(secret), secret
