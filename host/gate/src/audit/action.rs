//! Actions of the audit log. A test finds routes that change something without recording one.

macro_rules! actions {
    ($($variant:ident = $name:literal;)+) => {
        /// Kind of change: a thing and the verb.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
        pub enum Action {
            $(#[strum(serialize = $name)] $variant),+
        }
    };
}

actions! {
    AppealDecided = "appeal.decided";
    ArtifactDeleted = "artifact.deleted";
    ArtifactInstalled = "artifact.installed";
    ArtifactUploaded = "artifact.uploaded";
    BreakerOpened = "breaker.opened";
    BundleDeleted = "bundle.deleted";
    BundlePut = "bundle.put";
    ChainPut = "chain.put";
    ChainRestored = "chain.restored";
    ChainRolledBack = "chain.rolled_back";
    CurrencyPut = "currency.put";
    DeadLetterDeleted = "dead_letter.deleted";
    DeadLetterRetried = "dead_letter.retried";
    DeliveryCancelled = "delivery.cancelled";
    DeliveryConfirmed = "delivery.confirmed";
    DeliveryRetried = "delivery.retried";
    HubRestored = "hub.restored";
    ImportEnded = "import.ended";
    ImportStarted = "import.started";
    KeptModuleEnded = "kept_module.ended";
    KeyCreated = "key.created";
    KeyRevoked = "key.revoked";
    KeyRolled = "key.rolled";
    LinePut = "line.put";
    LocalePut = "locale.put";
    MessageDeleted = "message.deleted";
    MessagePut = "message.put";
    MemberInvited = "member.invited";
    MemberInvitationDeleted = "member.invitation_deleted";
    MemberJoined = "member.joined";
    MemberChanged = "member.changed";
    MemberRemoved = "member.removed";
    ModuleDeleted = "module.deleted";
    ModuleUploaded = "module.uploaded";
    NetworkChanged = "network.changed";
    NetworkCreated = "network.created";
    NetworkDeleted = "network.deleted";
    NetworkDeletionScheduled = "network.deletion_scheduled";
    NetworkImported = "network.imported";
    OperatorInvitationDeleted = "operator.invitation_deleted";
    OperatorInvited = "operator.invited";
    PersonCreated = "person.created";
    PersonDeleted = "person.deleted";
    PersonDeviceSignedIn = "person.device_signed_in";
    PersonOpenIdLinked = "person.openid_linked";
    PersonPasswordChanged = "person.password_changed";
    PersonSecondFactorDisabled = "person.second_factor_disabled";
    PersonSecondFactorEnabled = "person.second_factor_enabled";
    PersonSessionEnded = "person.session_ended";
    PersonSignedOutElsewhere = "person.signed_out_elsewhere";
    PersonSignedOutEverywhere = "person.signed_out_everywhere";
    PlayerDataRestored = "player_data.restored";
    PlayerExported = "player.exported";
    PlayerForgotten = "player.forgotten";
    PlanChanged = "plan.changed";
    PlanCreated = "plan.created";
    PlanDeleted = "plan.deleted";
    PluginCalled = "plugin.called";
    ProvisionedServerDeleted = "provisioned_server.deleted";
    ProvisionedServerPut = "provisioned_server.put";
    ReportChanged = "report.changed";
    RolePut = "role.put";
    RoleDeleted = "role.deleted";
    PunishmentChanged = "punishment.changed";
    PunishmentsRevoked = "punishments.revoked";
    ServerCommanded = "server.commanded";
    ServerKilled = "server.killed";
    ServerRestarted = "server.restarted";
    ServerStarted = "server.started";
    ServerStopped = "server.stopped";
    StaffNoteCreated = "staff_note.created";
    StaffNoteDeleted = "staff_note.deleted";
    ScheduleRun = "schedule.run";
    SecretDeleted = "secret.deleted";
    SecretPut = "secret.put";
    SecretsRotated = "secrets.rotated";
    SigningSecretRotated = "signing_secret.rotated";
    TicketChanged = "ticket.changed";
    TicketDeleted = "ticket.deleted";
    TimerDeleted = "timer.deleted";
    WaitlistEntryInvited = "waitlist_entry.invited";
    WaitlistEntryDeleted = "waitlist_entry.deleted";
    WebhookChanged = "webhook.changed";
    WebhookCreated = "webhook.created";
    WebhookDeleted = "webhook.deleted";
    WebhookDeliveryResent = "webhook_delivery.resent";
    WebhookDisabled = "webhook.disabled";
    WebhookSecretRotated = "webhook.secret_rotated";
    WebhookTested = "webhook.tested";
}
