//! A connection with TLS 1.3 and AES-128-GCM, of a client that takes any certificate: the server is measured, and its name does not matter.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::{self, cipher_suite::TLS13_AES_128_GCM_SHA256};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme, StreamOwned};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, OnceLock};

pub struct Tls(StreamOwned<ClientConnection, TcpStream>);

impl Tls {
    /// A connection whose handshake begins with the first bytes that are sent. `stream` does not block.
    pub fn new(stream: TcpStream) -> io::Result<Tls> {
        let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
        let connection = ClientConnection::new(configuration()?, name).map_err(io::Error::other)?;
        Ok(Tls(StreamOwned::new(connection, stream)))
    }

    pub fn fd(&self) -> RawFd {
        self.0.sock.as_raw_fd()
    }

    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    pub fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.0.read(room)
    }

    /// Tells the server that the connection ends, as far as the system takes it at once.
    pub fn say_end(&mut self) {
        self.0.conn.send_close_notify();
        let _ = self.0.conn.write_tls(&mut self.0.sock);
    }
}

/// One for all connections. It keeps no sessions, so each handshake is a whole one.
fn configuration() -> io::Result<Arc<ClientConfig>> {
    static CONFIGURATION: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(made) = CONFIGURATION.get() {
        return Ok(made.clone());
    }
    let provider = CryptoProvider { cipher_suites: vec![TLS13_AES_128_GCM_SHA256], ..ring::default_provider() };
    let verifier = Arc::new(AnyCertificate(provider.signature_verification_algorithms));
    let mut made = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    made.resumption = rustls::client::Resumption::disabled();
    Ok(CONFIGURATION.get_or_init(|| Arc::new(made)).clone())
}

/// Takes any certificate, and checks that the server has its key.
#[derive(Debug)]
struct AnyCertificate(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("only TLS 1.3 is spoken".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
