"""A small XMPP client: stream, STARTTLS, SASL PLAIN, a resource, messages."""

import base64
import re
import socket
import ssl

from server import Failed

NAMESPACES = "xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'"


class Client:
    def __init__(self, port, user, password, host="localhost"):
        self.host, self.seen = host, ""
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.begin()
        self.send("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
        self.expect(r"<proceed[^>]*/>")
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.socket = context.wrap_socket(self.socket)
        self.begin()
        secret = base64.b64encode(f"\0{user}\0{password}".encode()).decode()
        self.send(f"<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>{secret}</auth>")
        said = self.expect(r"<success[^>]*/>|</failure>")
        if "<success" not in said:
            raise Failed(f"{user} is not let in: {said}")
        self.begin()
        self.send("<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>test</resource></bind></iq>")
        self.address = re.search(r"<jid>(.*?)</jid>", self.expect(r"<jid>.*?</jid>"))[1]

    def begin(self):
        self.send(f"<?xml version='1.0'?><stream:stream to='{self.host}' {NAMESPACES}>")
        self.expect(r"</stream:features>")

    def send(self, text):
        self.socket.sendall(text.encode())

    def expect(self, pattern):
        """What comes up to a match. What comes after it stays for the next call."""
        while not (match := re.search(pattern, self.seen, re.S)):
            try:
                data = self.socket.recv(65536)
            except TimeoutError:
                raise Failed(f"no {pattern}; there is {self.seen[-300:]!r}") from None
            if not data:
                raise Failed(f"closed, without {pattern}; there is {self.seen[-300:]!r}")
            self.seen += data.decode(errors="replace")
        came, self.seen = self.seen[:match.end()], self.seen[match.end():]
        return came

    def close(self):
        self.send("</stream:stream>")
        self.socket.close()
