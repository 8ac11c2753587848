"""Certificates for tests, made by the openssl command when they are needed; none is kept."""
import os
import subprocess


def openssl(*words, **options):
    subprocess.run(["openssl", *map(str, words)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   **options)


class Issued:
    """A certificate and its key."""

    def __init__(self, folder, name):
        self.cert = os.path.join(folder, name + ".crt")
        self.key = os.path.join(folder, name + ".key")

    def make_key(self, rsa_bits=None):
        if rsa_bits:
            openssl("genrsa", "-out", self.key, rsa_bits)
        else:
            openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.key)

    def with_password(self, password):
        """The same key in a file that needs a password."""
        path = self.key + ".locked"
        openssl("ec", "-in", self.key, "-aes256", "-passout", "pass:" + password, "-out", path)
        return path


class Authority(Issued):
    def __init__(self, folder, name):
        super().__init__(folder, name)
        self.folder = folder
        self.make_key()
        openssl("req", "-x509", "-new", "-key", self.key, "-subj", "/CN=" + name, "-days", 3, "-out", self.cert)

    def issue(self, name, days=2, rsa_bits=None):
        """`days` -1: has expired. Without `rsa_bits` the key is one of an elliptic curve, which costs least."""
        issued = Issued(self.folder, name)
        issued.make_key(rsa_bits)
        request, alternatives = issued.key + ".csr", issued.key + ".ext"
        openssl("req", "-new", "-key", issued.key, "-subj", "/CN=" + name, "-out", request)
        with open(alternatives, "w", encoding="ascii") as file:
            file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        openssl("x509", "-req", "-in", request, "-CA", self.cert, "-CAkey", self.key, "-CAcreateserial", "-days", days,
                "-extfile", alternatives, "-out", issued.cert)
        return issued
