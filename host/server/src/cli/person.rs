//! `hub admin person …`: works on the database directly, even while a hub is running.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::auth::Origin;
use crate::cli::open_database;
use crate::clock::Clock;
use crate::config::StorageArgs;
use crate::email::Email;
use crate::ids::Ids;
use crate::people;
use crate::values::Identifier;

#[derive(Subcommand, Debug)]
pub(super) enum Person {
    /// Create an operator, who can invite other people
    Create(Create),
}

#[derive(Args, Debug)]
pub(super) struct Create {
    /// Email address for signing in
    email: Email,
    /// Make the person an operator of the whole hub (required; others are invited)
    #[arg(long)]
    operator: bool,
    /// Display name
    #[arg(long, default_value = "Operator")]
    name: Identifier,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

impl Person {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let Self::Create(create) = self;
        anyhow::ensure!(create.operator, "only operators are created here (--operator); invite other people");
        let db = open_database(&create.storage).await?;
        let origin = Origin::command_line(&Clock::System, &Ids::System);
        let created = people::service::create_operator(&db, &origin, &create.email, create.name.as_str()).await;
        db.close().await;
        let (id, password) = created?;
        if create.json {
            print_json!(json!({"personId": id, "email": create.email.as_str(), "password": password}));
        } else {
            println!("person id  {id}");
            println!("password   {}", password.expose());
            println!("Store the password now: it is shown only once. Change it after signing in.");
        }
        Ok(())
    }
}
