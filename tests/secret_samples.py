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
CAPITALS = string.ascii_uppercase + string.digits
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

    def any_password(self) -> str:
        """Return a password as a program makes one."""
        return self.text(WORD, 12)

    def key(self) -> str:
        """Return 32 random bytes in base 64."""
        return base64.b64encode(self.random.randbytes(32)).decode()

    def uuid(self) -> str:
        """Return a random UUID."""
        return "-".join(self.text(LOWER_HEX, length) for length in (8, 4, 4, 4, 12))

    def logged_key(self) -> str:
        """Return a private key as a logger writes it, its mark in front of each line."""
        minute = self.text("012345", 1) + self.text(string.digits, 1)
        return "\n".join(f"2026-11-24 10:{minute}:00,000 INFO {line}" for line in self.private_key().splitlines())


def putty_key(made: Maker) -> tuple[str, str]:
    """Return a file of PuTTY, and the lines of its private key."""
    lines = [*(made.text(WIDE, 64) for _ in range(3)), made.text(WIDE, 30) + "=="]
    head = "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: ann"
    return f"{head}\nPrivate-Lines: 4\n" + "\n".join(lines) + "\nPrivate-MAC: 00", " ".join(lines)


DJANGO = string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)"
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
    "aws session": lambda made: around("AWS_SESSION_TOKEN={}", made.text(WIDE, 200)),
    "github action": lambda made: around("remote: {} has expired", f"{'ghs'}_{made.text(WORD, 36)}"),
    "slack app": lambda made: around("socket mode: {}", f"{'xapp'}-1-{made.text(WORD, 11)}-{made.text(LOWER_HEX, 64)}"),
    "slack webhook": lambda made: around(
        "curl https://{}",
        f"hooks.{'slack'}.com/services/T{made.text(CAPITALS, 8)}/B{made.text(CAPITALS, 8)}/{made.text(WORD, 24)}",
    ),
    "discord webhook": lambda made: around(
        "post to https://{}", f"{'discord'}.com/api/webhooks/{made.text(string.digits, 18)}/{made.text(SAFE, 68)}"
    ),
    "teams webhook": lambda made: around(
        "notify https://contoso.{} failed",
        f"webhook.{'office'}.com/webhookb2/{made.uuid()}@{made.uuid()}/IncomingWebhook/{made.text(LOWER_HEX, 32)}/x",
    ),
    "stripe webhook": lambda made: around("the hook has {}", f"{'whsec'}_{made.text(WORD, 32)}"),
    "openai old": lambda made: around("openai.api_key was {}", f"{'sk'}-{made.text(WORD, 48)}"),
    "google client": lambda made: around("the client has {}", f"{'GOCSPX'}-{made.text(SAFE, 28)}"),
    "google access": lambda made: around("gcloud prints {}", f"{'ya29'}.{made.text(SAFE, 120)}"),
    "sendgrid": lambda made: around("mail goes by {}", f"{'SG'}.{made.text(SAFE, 22)}.{made.text(SAFE, 43)}"),
    "twilio": lambda made: around("sms goes by {}", f"{'SK'}{made.text(LOWER_HEX, 32)}"),
    "digitalocean": lambda made: around("doctl -t {}", f"{'dop'}_v1_{made.text(LOWER_HEX, 64)}"),
    "docker token": lambda made: around("pull with {}", f"{'dckr'}_pat_{made.text(SAFE, 27)}"),
    "databricks": lambda made: around("cluster: {}", f"{'dapi'}{made.text(LOWER_HEX, 32)}"),
    "shopify": lambda made: around("shop: {}", f"{'shpat'}_{made.text(LOWER_HEX, 32)}"),
    "vault": lambda made: around("vault login {}", f"{'hvs'}.{made.text(SAFE, 90)}"),
    "telegram": lambda made: around("the bot {} is gone", f"{made.text('123456789', 9)}:{'AA'}{made.text(SAFE, 33)}"),
    "notion": lambda made: around("notion: {}", f"{'ntn'}_{made.text(WORD, 46)}"),
    "linear": lambda made: around("linear: {}", f"{'lin'}_api_{made.text(WORD, 40)}"),
    "grafana": lambda made: around("grafana: {}", f"{'glsa'}_{made.text(WORD, 32)}_{made.text(LOWER_HEX, 8)}"),
    "groq": lambda made: around("groq: {}", f"{'gsk'}_{made.text(WORD, 52)}"),
    "replicate": lambda made: around("replicate: {}", f"{'r8'}_{made.text(WORD, 37)}"),
    "atlassian": lambda made: around("jira: {}", f"{'ATATT3'}{made.text(SAFE, 180)}={made.text(CAPITALS, 8)}"),
    "mailchimp": lambda made: around("mailchimp: {}", f"{made.text(LOWER_HEX, 32)}-{'us'}12"),
    "age": lambda made: around("the file has {}", f"{'AGE'}-SECRET-KEY-1{made.text(CAPITALS, 58)}"),
    "terraform": lambda made: around("tf: {}", f"{made.text(WORD, 14)}.{'atlasv1'}.{made.text(SAFE, 67)}"),
    "basic": lambda made: around(
        "Authorization: Basic {}", base64.b64encode(f"ann:{made.any_password()}".encode()).decode()
    ),
    "authorization": lambda made: around("authorization: {}", made.text(LOWER_HEX, 40)),
    "curl -u": lambda made: around("curl -u ann:{} https://host.internal", made.password()),
    "*_SECRET=": lambda made: around("OAUTH_CLIENT_SECRET={}", made.text(LOWER_HEX, 40)),
    "--token": lambda made: around("deploy --token {} --now", made.text(LOWER_HEX, 40)),
    "--password": lambda made: around("mysql --password {} shop", made.password()),
    "password in JSON": lambda made: around('{{"password": "{}"}}', made.password()),
    "fernet": lambda made: around("FERNET_KEY={}", made.key().replace("+", "-").replace("/", "_")),
    "datadog": lambda made: around("DATADOG_KEY={}", made.text(LOWER_HEX, 32)),
    "laravel": lambda made: around("APP_KEY=base64:{}", made.key()),
    "cookie": lambda made: around(
        "Cookie: theme=dark; sessionid={}; lang=de", made.text(string.ascii_lowercase + string.digits, 32)
    ),
    "set-cookie": lambda made: around("Set-Cookie: sid={}; Path=/; HttpOnly", made.text(LOWER_HEX, 32)),
    "azure signature": lambda made: around(
        "GET https://acct.blob.core.windows.net/c/f?sv=2022-11-02&sp=r&sig={} 403",
        made.key().replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"),
    ),
    "amazon signature": lambda made: around(
        "https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature={}", made.text(LOWER_HEX, 64)
    ),
    "kubeconfig": lambda made: around("    client-key-data: {}", made.text(WIDE, 400) + made.key()),
    "netrc": lambda made: around("machine api.host.example login ann password {}", made.any_password()),
    "netrc without a login": lambda made: around("machine api.host.example password {}", made.any_password()),
    "django": lambda made: around("SECRET_KEY = 'django-insecure-{}'", made.text(DJANGO, 50)),
    "mysql -p": lambda made: around("mysql -u root -p{} -h db failed", made.any_password()),
    "sshpass": lambda made: around("sshpass -p {} ssh ann@host", made.any_password()),
    "docker login": lambda made: around("docker login -u ann -p {} registry.example", made.any_password()),
    "redis-cli": lambda made: around("redis-cli -h cache -a {} ping", made.any_password()),
    "sentry": lambda made: around("SENTRY_DSN=https://{}@o12345.ingest.sentry.io/678", made.text(LOWER_HEX, 32)),
    "token in a URL": lambda made: around("git clone https://{}@git.example/a/b.git", made.text(LOWER_HEX, 40)),
    "logged private key": lambda made: lines_of(made.logged_key()),
    "coloured password": lambda made: around("password=\x1b[31m{}\x1b[0m is refused", made.password()),
    "coloured name": lambda made: around("DB_\x1b[1;31mPASSWORD\x1b[0m={}", made.password()),
    "well-known password": lambda made: around("the login has password={}", f"MyP@ssw0rd{made.text(string.digits, 1)}"),
    "supabase": lambda made: around("supabase login {}", f"{'sbp'}_{made.text(LOWER_HEX, 40)}"),
    "supabase secret": lambda made: around("apikey: {}", f"{'sb'}_secret_{made.text(SAFE, 31)}"),
    "doppler": lambda made: around("doppler run -t {}", f"{'dp'}.pt.{made.text(WORD, 43)}"),
    "doppler service": lambda made: around("doppler: {}", f"{'dp'}.st.dev_eu.{made.text(WORD, 43)}"),
    "postman": lambda made: around("newman {}", f"{'PMAK'}-{made.text(LOWER_HEX, 24)}-{made.text(LOWER_HEX, 34)}"),
    "figma": lambda made: around("figma: {}", f"{'figd'}_{made.text(SAFE, 40)}"),
    "pulumi": lambda made: around("pulumi login: {}", f"{'pul'}-{made.text(LOWER_HEX, 40)}"),
    "fly": lambda made: around("fly auth {}", f"{'fo1'}_{made.text(SAFE, 43)}"),
    "fly deploy": lambda made: around("FlyV1 {}", f"{'fm2'}_lJPEC{made.text(WIDE, 160)}=="),
    "sentry auth": lambda made: around("sentry-cli {}", f"{'sntrys'}_eyJ{made.text(SAFE, 80)}"),
    "sentry user": lambda made: around("sentry-cli {}", f"{'sntryu'}_{made.text(LOWER_HEX, 64)}"),
    "mapbox": lambda made: around("mapbox: {}", f"{'sk'}.eyJ{made.text(WORD, 60)}.{made.text(SAFE, 22)}"),
    "artifactory": lambda made: around("jfrog {}", f"{'AKCp'}{made.text(WORD, 69)}"),
    "airtable": lambda made: around("airtable: {}", f"{'pat'}{made.text(WORD, 14)}.{made.text(LOWER_HEX, 64)}"),
    "netlify": lambda made: around("netlify {}", f"{'nfp'}_{made.text(WORD, 36)}"),
    "heroku": lambda made: around("heroku: {}", f"{'HRKU'}-{made.uuid()}"),
    "heroku new": lambda made: around("heroku: {}", f"{'HRKU'}-AA{made.text(SAFE, 58)}"),
    "discord bot": lambda made: around(
        "the discord bot has {}", f"{'M'}{made.text(WORD, 25)}.G{made.text(SAFE, 5)}.{made.text(SAFE, 38)}"
    ),
    "okta": lambda made: around("curl -H 'X: {}'", f"{'SSWS'} 00{made.text(SAFE, 40)}"),
    "tailscale": lambda made: around("tailscale up {}", f"{'tskey'}-auth-{made.text(WORD, 16)}-{made.text(WORD, 32)}"),
    "new relic": lambda made: around("newrelic {}", f"{'NRAK'}-{made.text(CAPITALS, 27)}"),
    "planetscale": lambda made: around("pscale {}", f"{'pscale'}_tkn_{made.text(SAFE, 43)}"),
    "rubygems": lambda made: around("gem push {}", f"{'rubygems'}_{made.text(LOWER_HEX, 48)}"),
    "square": lambda made: around("square: {}", f"{'sq0'}atp-{made.text(SAFE, 22)}"),
    "1password": lambda made: around("op: {}", f"{'ops'}_eyJ{made.text(SAFE, 220)}"),
    "docker config": lambda made: around(
        '{{"auths": {{"ghcr.io": {{"auth": "{}"}}}}}}', base64.b64encode(f"ann:{made.any_password()}".encode()).decode()
    ),
    "wifi": lambda made: around('network={{ ssid="home" psk="{}" }}', f"{made.password()} {made.password()}"),
    "wifi key": lambda made: around("psk={}", made.text(LOWER_HEX, 64)),
    "putty": putty_key,
}


def lines_of(text: str) -> tuple[str, str]:
    """Return a text whose long words, one a line, are the secret."""
    return text, " ".join(line.split()[-1] for line in text.splitlines()[1:-1])


def around(text: str, secret: str) -> tuple[str, str]:
    """Return a text with a secret in it, and the secret."""
    return text.format(secret), secret
