-- What the market's feed last stated of its rules and how it trades; NULL before it stated anything.
ALTER TABLE markets ADD COLUMN terms TEXT;
