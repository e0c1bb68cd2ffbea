/** Error codes of reads that say what they must show, and of what is set up by the operator: the same columns as in error-codes.ts. */
export const venueErrorCodes = {
  'Reads with min_seq': {
    invalid_min_seq:
      '400 | min_seq is not <market>=<seq> for one or more listed markets, separated by commas. | Send what X-Feed-Seq said, or the seq of a frame.',
    min_seq_ahead:
      '503 | min_seq is ahead of the newest change that is known here; after a restore from a backup the numbers of a market may begin lower. | Retry in a moment; if it stays, forget the number and read without it.',
    too_many_waiting_reads:
      '503 | Too many reads of the address wait for their min_seq. | Retry after the Retry-After header; one at a time is always admitted.',
  },
  'Samples of the index': {
    index_status_off: '404 | The venue takes no samples. | Configure the token, or send none.',
    index_token: '401 | The token is missing or wrong. | Send the configured token.',
    invalid_index_status: '400 | The sample has another form. | Send what the text says.',
    index_status_ahead: '400 | at_ms is in the future. | Set the clock of the reporter.',
    index_status_unavailable: '503 | The sample was not recorded. | Send it again shortly.',
  },
  'Demo accounts': {
    demo_accounts_off:
      '404 | The venue gives no demo accounts: only a devnet does. | Deposit tokens of your own.',
    demo_accounts_exhausted:
      '409 | The devnet has given all of its demo accounts. | Use one that was given, or begin a new devnet with ./venue reset.',
    demo_accounts_busy:
      '429 | Ten demo accounts were given within the last minute. | Ask again after the Retry-After header.',
    demo_accounts_unavailable:
      '503 | The chain did not take the transaction, or it is not known whether it did. | Ask again; an address gets accounts once.',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>
