//! Mail and its two transports: SMTP, or files in `outbox/`.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use lettre::message::{Mailbox, header::ContentType};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};
use thiserror::Error;

use crate::config::Settings;
use crate::ids::Ids;

/// Why a mail was not sent.
#[derive(Debug, Error)]
pub(crate) enum MailError {
    /// It could not be written.
    #[error(transparent)]
    Content(#[from] lettre::error::Error),
    /// The address cannot be written to.
    #[error(transparent)]
    Address(#[from] lettre::address::AddressError),
    /// The server did not take it.
    #[error(transparent)]
    Smtp(#[from] lettre::transport::smtp::Error),
    /// The outbox cannot be written to.
    #[error("the outbox cannot be written to: {0}")]
    Outbox(#[from] std::io::Error),
}

impl MailError {
    /// A retry would fail the same way.
    pub(crate) fn is_permanent(&self) -> bool {
        match self {
            Self::Content(_) | Self::Address(_) => true,
            Self::Smtp(error) => error.is_permanent(),
            Self::Outbox(_) => false,
        }
    }
}

/// Sends mail.
#[derive(Debug)]
pub(crate) struct Mailer {
    from: Mailbox,
    transport: Transport,
}

#[derive(Debug)]
enum Transport {
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
    Outbox(PathBuf),
}

impl Mailer {
    pub(crate) fn new(settings: &Settings) -> anyhow::Result<Self> {
        let from = settings.mail_from.parse();
        let from = from.with_context(|| format!("mail-from: `{}` is no address", settings.mail_from))?;
        let transport = match &settings.smtp {
            // The URL holds a password, so the message leaves it out.
            Some(url) => Transport::Smtp(
                AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
                    .context("smtp: must read as smtps://user:password@host or smtp://host:587?tls=required")?
                    .build(),
            ),
            None => Transport::Outbox(settings.data.join("outbox")),
        };
        Ok(Self { from, transport })
    }

    /// The address that mail is from.
    pub(crate) fn sender(&self) -> String {
        self.from.email.to_string()
    }

    /// Sends a text.
    pub(crate) async fn send(&self, ids: &Ids, to: &str, subject: &str, text: String) -> Result<(), MailError> {
        let message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to.parse()?))
            .subject(subject)
            .header(ContentType::TEXT_PLAIN)
            .body(text)?;
        match &self.transport {
            Transport::Smtp(smtp) => {
                smtp.send(message).await?;
            }
            Transport::Outbox(folder) => write_file(folder, &ids.token(20), &message.formatted()).await?,
        }
        Ok(())
    }
}

/// Written under a hidden name first, so that a reader of the outbox sees whole files only.
async fn write_file(folder: &Path, name: &str, mail: &[u8]) -> std::io::Result<()> {
    tokio::fs::create_dir_all(folder).await?;
    let unfinished = folder.join(format!(".{name}"));
    tokio::fs::write(&unfinished, mail).await?;
    tokio::fs::File::open(&unfinished).await?.sync_all().await?;
    tokio::fs::rename(&unfinished, folder.join(format!("{name}.eml"))).await
}
