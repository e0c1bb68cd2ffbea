import { z } from 'zod'

/** Most markets of one `min_seq`, and its longest text in characters. */
export const MAX_FEED_SEQS = 256
export const MAX_FEED_SEQS_LENGTH = 8_192

/** Query of every read that says in `X-Feed-Seq` what it shows. Additive to the interface. */
export const MinSeqQuery = z.object({
  min_seq: z
    .string()
    .max(MAX_FEED_SEQS_LENGTH)
    .optional()
    .describe(
      `What the answer must show at least, in the form of \`X-Feed-Seq\`: \`<market>=<seq>, <market>=<seq>\`, at most ${MAX_FEED_SEQS} markets; those that the answer is not about do not count. ` +
        '`seq` is that of a frame of `book`, `trades`, `orders` or `levels`, `feed_seq` of a result, or of an earlier `X-Feed-Seq`. The read waits for it up to 2 seconds.',
    ),
})
