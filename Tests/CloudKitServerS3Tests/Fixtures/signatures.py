"""Writes signatures.json with what botocore signs, and with two examples by hmac alone.

usage: python signatures.py >signatures.json        needs: pip install botocore==1.44.8

None of it shares code with the server. The times, keys and names are our own, but for the last two cases: those of
the examples in Amazon's documentation of Signature Version 4.
"""
import datetime
import hashlib
import hmac
import json

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.utils import percent_encode

NOW = datetime.datetime(2026, 1, 31, 12, 34, 56)
DATE = NOW.strftime("%Y%m%dT%H%M%SZ")
botocore.auth.get_current_datetime = lambda *_, **__: NOW
KEY, SECRET = "AKTESTKEY0001", "s3cret/With+Signs=and~More"
EMPTY = hashlib.sha256(b"").hexdigest()


def query_text(query):
    return "&".join(f"{percent_encode(n, safe='-_.~')}={percent_encode(v, safe='-_.~')}" for n, v in query)


def case(name, method, host, path, query=(), headers=(), body=b"", token=None, region="eu-central-1", seconds=None):
    encoded = percent_encode(path, safe="/~")
    url = f"https://{host}{encoded}" + ("?" + query_text(query) if query else "")
    credentials = Credentials(KEY, SECRET, token)
    request = AWSRequest(method=method, url=url, data=body, headers=dict(headers))
    found = {
        "name": name, "method": method, "host": host, "path": path, "query": [list(q) for q in query],
        "headers": [list(h) for h in headers], "token": token, "region": region, "date": DATE,
        "key": KEY, "secret": SECRET,
    }
    if seconds is None:
        request.context["payload_signing_enabled"] = True
        request.context["client_config"] = None
        auth = botocore.auth.S3SigV4Auth(credentials, "s3", region)
        auth._should_sha256_sign_payload = lambda _: True
        auth.add_auth(request)
        found["payload"] = hashlib.sha256(body).hexdigest()
        assert request.headers["X-Amz-Content-SHA256"] == found["payload"]
        found["authorization"] = request.headers["Authorization"]
    else:
        botocore.auth.S3SigV4QueryAuth(credentials, "s3", region, expires=seconds).add_auth(request)
        found["seconds"] = seconds
        found["signature"] = request.url.rsplit("X-Amz-Signature=", 1)[1]
    return found


def by_hand(name, method, canonical_path, canonical_query, headers, payload, date, region, key, secret):
    """The steps of the documentation, one line each."""
    lines = "".join(f"{n}:{v}\n" for n, v in headers)
    names = ";".join(n for n, _ in headers)
    text = f"{method}\n{canonical_path}\n{canonical_query}\n{lines}\n{names}\n{payload}"
    scope = f"{date[:8]}/{region}/s3/aws4_request"
    whole = f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{hashlib.sha256(text.encode()).hexdigest()}"
    code = ("AWS4" + secret).encode()
    for part in [date[:8], region, "s3", "aws4_request"]:
        code = hmac.new(code, part.encode(), hashlib.sha256).digest()
    return hmac.new(code, whole.encode(), hashlib.sha256).hexdigest(), scope, names


HEX = "ab" * 32
cases = [
    case("an object", "GET", "s3.example.com:9000", f"/bucket/assets/ab/{HEX}"),
    case("a part of it", "GET", "s3.example.com", f"/bucket/ab/{HEX}", headers=[("range", "bytes=100-")]),
    case("a bucket in the host", "PUT", "my-bucket.s3.eu-central-1.amazonaws.com", f"/ab/{HEX}",
         headers=[("content-type", "application/octet-stream")], body=b"hello"),
    case("a key with other characters", "HEAD", "h.example", "/b/Größe/a+b (c)/~x_y.z-1!*'&=%25/ab"),
    case("a temporary credential", "DELETE", "h.example", "/b/k", token="token+with/signs==", region="us-east-1"),
    case("a version", "DELETE", "h.example", "/b/k", query=[("versionId", "3/L4kqtJlcpXroDTDmJ+rmSpXd3dIbrHY")]),
    case("a list", "GET", "h.example", "/b", query=[
        ("list-type", "2"), ("prefix", "Größe/a b+c&d=e/"), ("max-keys", "1000"),
        ("continuation-token", "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM="), ("encoding-type", "url")]),
    case("a query without a value", "POST", "h.example", "/b/k", query=[("uploads", "")]),
    case("a part of an upload", "PUT", "h.example", "/b/k", query=[("uploadId", "x.y_z~1-2"), ("partNumber", "10")],
         body=b"\x00\x01" * 500),
    case("a header with spaces", "GET", "h.example", "/b/k", headers=[("x-amz-meta-note", "  two   words ")]),
    case("an address", "GET", "s3.example.com:9000", f"/bucket/ab/{HEX}", seconds=3600, query=[
        ("response-content-disposition", "attachment"), ("response-content-type", "application/octet-stream")]),
    case("an address for a temporary credential", "GET", "b.h.example", "/Größe/a b+c/k", seconds=604800,
         token="token+with/signs=="),
]

documented = dict(date="20130524T000000Z", region="us-east-1", key="AKIAIOSFODNN7EXAMPLE",
                  secret="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
host = "examplebucket.s3.amazonaws.com"
signature, scope, names = by_hand(
    "", "GET", "/test.txt", "",
    [("host", host), ("range", "bytes=0-9"), ("x-amz-content-sha256", EMPTY), ("x-amz-date", documented["date"])],
    EMPTY, **documented)
assert signature == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41", signature
cases.append({
    "name": "the documented request", "method": "GET", "host": host, "path": "/test.txt", "query": [],
    "headers": [["range", "bytes=0-9"]], "token": None, "payload": EMPTY, **documented,
    "authorization": f"AWS4-HMAC-SHA256 Credential={documented['key']}/{scope}, SignedHeaders={names}, "
                     f"Signature={signature}"})
credential = f"{documented['key']}%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
signature, _, _ = by_hand(
    "", "GET", "/test.txt",
    f"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={credential}&X-Amz-Date={documented['date']}"
    "&X-Amz-Expires=86400&X-Amz-SignedHeaders=host",
    [("host", host)], "UNSIGNED-PAYLOAD", **documented)
assert signature == "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404", signature
cases.append({
    "name": "the documented address", "method": "GET", "host": host, "path": "/test.txt", "query": [], "headers": [],
    "token": None, "seconds": 86400, "signature": signature, **documented})

print(json.dumps(cases, indent=1, ensure_ascii=False))
