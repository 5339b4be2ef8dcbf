# creds.py - operator, accounts and users of a nats-server, with keys and JWTs of their own.
# usage: creds.py perm USER < PERMISSIONS	USER.perm: of a configuration, as JSON
#        creds.py make USER ...	the configuration on stdout, USER.creds, old.creds
# Keys are made and used by openssl; NATS writes them in base 32 with a prefix and a CRC.
import base64, hashlib, json, re, subprocess, sys, time

PREFIX = {"O": 14 << 3, "A": 0, "U": 20 << 3}

def ssl(*args, data=None):
    return subprocess.run(["openssl", *args], input=data, stdout=subprocess.PIPE, check=True).stdout

def crc16(data):
    crc = 0
    for b in data:
        crc ^= b << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xffff
    return crc

def text(data):
    data += crc16(data).to_bytes(2, "little")
    return base64.b32encode(data).decode().rstrip("=")

class Key:
    def __init__(self, kind, name):
        self.file = "%s.%s.pem" % (kind, name)
        ssl("genpkey", "-algorithm", "ed25519", "-out", self.file)
        public = ssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")[-32:]
        secret = ssl("pkey", "-in", self.file, "-outform", "DER")[-32:]
        p = PREFIX[kind]
        self.public = text(bytes([p]) + public)
        s = 18 << 3
        self.seed = text(bytes([s | p >> 5, (p & 31) << 3]) + secret)
    def sign(self, data):
        with open("to-sign", "wb") as f:
            f.write(data)
        return ssl("pkeyutl", "-sign", "-inkey", self.file, "-rawin", "-in", "to-sign")

def b64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")

def jwt(issuer, subject, name, nats, until=None):
    claims = {"iat": int(time.time()) - 7200, "iss": issuer.public, "sub": subject.public, "name": name,
        "nats": dict(nats, version=2)}
    if until:
        claims["exp"] = until
    claims["jti"] = base64.b32encode(hashlib.sha256(json.dumps(claims).encode()).digest()).decode().rstrip("=")
    body = b64(json.dumps({"typ": "JWT", "alg": "ed25519-nkey"}).encode()) + "." + b64(json.dumps(claims).encode())
    return body + "." + b64(issuer.sign(body.encode()))

def credentials(file, account, name, permissions, until=None):
    key = Key("U", file)
    nats = {"type": "user", "subs": -1, "data": -1, "payload": -1, **permissions}
    with open(file + ".creds", "w") as f:
        f.write("-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n"
            "-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n" %
            (jwt(account, key, name, nats, until), key.seed))

if sys.argv[1] == "perm":
    words = dict(re.findall(r'(publish|subscribe): (\[[^\]]*\]|"[^"]*")', sys.stdin.read()))
    allow = {k: json.loads(v) for k, v in words.items()}
    allow = {k: {"allow": v if isinstance(v, list) else [v]} for k, v in allow.items()}
    with open(sys.argv[2] + ".perm", "w") as f:
        json.dump({"pub": allow["publish"], "sub": allow["subscribe"]}, f)
    sys.exit(0)

operator, account, system = Key("O", "operator"), Key("A", "fleet"), Key("A", "system")
limits = dict.fromkeys(["subs", "data", "payload", "imports", "exports", "conn", "leaf", "mem_storage",
    "disk_storage", "streams", "consumer"], -1)
kind = {"type": "account", "limits": dict(limits, wildcards=True)}
quiet = {"type": "account", "limits": {k: v for k, v in dict(limits, wildcards=True).items()
    if k not in ("mem_storage", "disk_storage", "streams", "consumer")}}
print("operator: %s" % jwt(operator, operator, "operator", {"type": "operator", "system_account": system.public}))
print("system_account: %s\nresolver: MEMORY\nresolver_preload: {" % system.public)
print("  %s: %s" % (account.public, jwt(operator, account, "fleet", kind)))
print("  %s: %s\n}" % (system.public, jwt(operator, system, "system", quiet)))
for user in sys.argv[2:]:
    with open(user + ".perm") as f:
        credentials(user, account, user, json.load(f))
credentials("old", account, "old", {}, int(time.time()) - 3600)
