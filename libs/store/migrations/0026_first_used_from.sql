-- compatible: yes
-- Where the first use of a token came from, as far as proxies are trusted; null: not recorded.
ALTER TABLE tokens ADD COLUMN first_used_from text;
