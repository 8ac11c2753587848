"""Certificates for tests, made by the openssl command on demand and not kept."""
import os
import subprocess


def openssl(*words, **options):
    subprocess.run(["openssl", *map(str, words)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   **options)


# For `openssl ca`, which accepts dates in the past; later versions of `openssl x509` do not.
REGISTER = """[ca]
default_ca = own
[own]
database = {folder}/{name}.issued
new_certs_dir = {folder}
rand_serial = yes
unique_subject = no
policy = any
default_md = sha256
[any]
commonName = supplied
"""
VALID = ("-days", 2)
EXPIRED = ("-startdate", "20200101000000Z", "-enddate", "20200102000000Z")


class Issued:
    """Returns a certificate and its key."""

    def __init__(self, folder, name):
        self.cert = os.path.join(folder, name + ".crt")
        self.key = os.path.join(folder, name + ".key")

    def make_key(self, rsa_bits=None):
        if rsa_bits:
            openssl("genrsa", "-out", self.key, rsa_bits)
        else:
            openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.key)

    def with_password(self, password):
        """Returns a copy of the key in a file with a password."""
        path = self.key + ".locked"
        openssl("ec", "-in", self.key, "-aes256", "-passout", "pass:" + password, "-out", path)
        return path


class Authority(Issued):
    def __init__(self, folder, name):
        super().__init__(folder, name)
        self.folder = folder
        self.make_key()
        openssl("req", "-x509", "-new", "-key", self.key, "-subj", "/CN=" + name, "-days", 3, "-out", self.cert)
        self.register = self.write(name + ".register", REGISTER.format(folder=folder, name=name))
        self.write(name + ".issued", "")

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def issue(self, name, dates=VALID, rsa_bits=None):
        """Without `rsa_bits` the key is an elliptic curve key, which is the cheapest to make."""
        issued = Issued(self.folder, name)
        issued.make_key(rsa_bits)
        request = issued.key + ".csr"
        openssl("req", "-new", "-key", issued.key, "-subj", "/CN=" + name, "-out", request)
        alternatives = self.write(name + ".ext", "subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        openssl("ca", "-batch", "-notext", "-config", self.register, "-cert", self.cert, "-keyfile", self.key, *dates,
                "-in", request, "-extfile", alternatives, "-out", issued.cert)
        return issued
