//! Mail and its two transports: SMTP, or files in `outbox/`.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use lettre::message::{Mailbox, header::ContentType};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};
use thiserror::Error;

use crate::config::Settings;
use crate::ids::Ids;

/// Reason for a mail that was not sent.
#[derive(Debug, Error)]
pub enum MailError {
    /// The message could not be composed.
    #[error(transparent)]
    Content(#[from] lettre::error::Error),
    /// The address is not valid for mail.
    #[error(transparent)]
    Address(#[from] lettre::address::AddressError),
    /// The SMTP server refused the mail or could not be reached.
    #[error(transparent)]
    Smtp(#[from] lettre::transport::smtp::Error),
    /// The outbox is not writable.
    #[error("the outbox is not writable: {0}")]
    Outbox(#[from] std::io::Error),
}

impl MailError {
    /// True if a retry would fail the same way.
    pub fn is_permanent(&self) -> bool {
        match self {
            Self::Content(_) | Self::Address(_) => true,
            Self::Smtp(error) => error.is_permanent(),
            Self::Outbox(_) => false,
        }
    }
}

/// Sends mail.
#[derive(Debug)]
pub struct Mailer {
    from: Mailbox,
    transport: Transport,
}

#[derive(Debug)]
enum Transport {
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
    Outbox(PathBuf),
}

impl Mailer {
    pub fn new(settings: &Settings) -> anyhow::Result<Self> {
        let from = settings.mail_from.parse();
        let from = from.with_context(|| format!("mail-from: `{}` is not an address", settings.mail_from))?;
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

    /// Sender's address.
    pub fn sender(&self) -> String {
        self.from.email.to_string()
    }

    /// Sends a text mail.
    pub async fn send(&self, ids: &Ids, to: &str, subject: &str, text: String) -> Result<(), MailError> {
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

/// Writes under a hidden name first, so that a reader of the outbox sees only complete files.
async fn write_file(folder: &Path, name: &str, mail: &[u8]) -> std::io::Result<()> {
    tokio::fs::create_dir_all(folder).await?;
    let unfinished = folder.join(format!(".{name}"));
    tokio::fs::write(&unfinished, mail).await?;
    tokio::fs::File::open(&unfinished).await?.sync_all().await?;
    tokio::fs::rename(&unfinished, folder.join(format!("{name}.eml"))).await
}
