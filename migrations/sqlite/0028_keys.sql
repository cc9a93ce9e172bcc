-- Where a key may be used, as JSON arrays; null: anywhere. A hub of the version before does not look at them.
ALTER TABLE api_keys ADD COLUMN servers TEXT;
ALTER TABLE api_keys ADD COLUMN addresses TEXT;

-- The secret before `signing_secret`, good until then.
ALTER TABLE networks ADD COLUMN previous_signing_secret TEXT;
ALTER TABLE networks ADD COLUMN previous_signing_until INTEGER;
