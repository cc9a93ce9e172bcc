-- Whom an OpenID provider knows a person as, from their first sign-in by it on. A person has one subject at each provider.
CREATE TABLE person_openid_subjects (
    issuer    TEXT    NOT NULL,
    subject   TEXT    NOT NULL,
    person_id TEXT    NOT NULL,
    linked_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE UNIQUE INDEX person_openid_subjects_by_person ON person_openid_subjects (person_id, issuer);
