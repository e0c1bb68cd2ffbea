/**
 * The lines of a scenario, as `scenario.ts` reads them, each with its meaning. README.md is made of them; a test compares the
 * first words with the statements that are read.
 */
export const LINES: readonly (readonly [line: string, meaning: string])[] = [
  [
    '`place NAME by TRADER SIDE AMOUNT @ PRICE`',
    'places an order; optional: `expires 60s`, `filled 4`, `worst-fee 0.01` (per unit), `ioc`, `fok`, `post-only reject`, `post-only slide`, `stp cancel_oldest`, `stp cancel_both`, `lease NAME`, `of-owner` (self-trade prevention; all traders have one owner), `by-code` (the signer is code), `unchecked`, and last `with` and an account observation (as below)',
  ],
  [
    '`cancel NAME`, `continue NAME`, `repeat NAME`, `signature NAME valid`',
    'the commands `CancelOrder`, `ContinueOrder`, `RepeatOrder`, `SignatureChecked`; any word other than `valid` means invalid',
  ],
  [
    '`cancel-all side buy of TRADER`, `cancel-orders NAME NAME`',
    'cancels of many orders; side and trader are optional; an order without a change is listed as `NAME settling` or with its refusal',
  ],
  [
    '`lease NAME 30s`, `lease all 30s`, `lease NAME 30s renewed`',
    'opens the lease that orders name with `lease NAME`, or the one over all orders; `renewed`: only if there is one',
  ],
  [
    '`end-lease NAME`, `end-lease all quietly`',
    'ends a lease, with a cancel of its orders or `quietly`',
  ],
  [
    '`perpetual`',
    'first statement of a perpetual market; `account` then takes `position -5 cash 20 unsettled 1 at 1.1 auction unpriced`, orders `reduce-only`',
  ],
  [
    '`future`',
    'first statement of a market of futures; `account` then takes `position 2 usdc 100 cngn -5000 at 1500` (contracts), `market` takes `index 1500 mark 1500 left 7200 cap 10 total 2 stale paused` (`left`: seconds from the start of the story to expiry)',
  ],
  [
    '`market mark 1 index 1 cap 100 total 10 im 0.1 paused disabled stale borrowing aged 11s`',
    'an observation of a perpetual market; defaults: mark and index 1, initial margin a tenth, trading, read now',
  ],
  [
    '`account TRADER base 10 quote 20 block 5 leaving withdrawn`',
    'an account observation; defaults: ample balances, block 1, in custody',
  ],
  ['`replace OLD NEW by TRADER …`', 'places NEW in the place of OLD; the rest as of `place`'],
  ['`reduce NAME to AMOUNT`', 'the command `ReduceOrder`'],
  ['`wait 30s`', 'advances the time and sends a tick'],
  [
    '`settles MAKER/TAKER`, `reverts MAKER/TAKER REVERT guilty maker`',
    "outcome of a match; `#2` names the second match of a pair; `settles … block 9` gives its chain block; `guilty` defaults to `both`; also `venue` and `unclear`; a last word `elsewhere`: spent by another market's match, or `mined`: it failed on the chain and not in the simulation",
  ],
  ['`key NAME ends 60s`', 'the session key that signed the order ends then'],
  [
    '`fault REVERT`, `fault none`',
    'the executor has read that the chain refuses every match, or no longer does',
  ],
  ['`held REVERT`, `held none`', "expects the market's hold for a fault of the chain"],
  [
    '`code TRADER`',
    "a failed match has shown that the trader's signer is code; each trader signs with a key of its own",
  ],
  [
    '`loses MAKER/TAKER REVERT`, `regains MAKER/TAKER`',
    'final reversal of a match that was settled, or that had reverted; causes `agrees` if the market already has that outcome, `untold` if the market has published none',
  ],
  [
    '`set taker_fee_bps=30 …`, `pause`, `resume`, `disable`, `enable`',
    "an operator's commands; rules by the names of the market file",
  ],
  [
    '`standing enabled paused maintenance`',
    'expects whether the market is enabled, its trading status and the reason',
  ],
  [
    '`-> …`',
    'one effect of the statement above, in order and complete: `match …`, `trade …`, `PAIR takes back …`, `refused …`, or the new state of an order',
  ],
  ['`book SIDE PRICE NAME AMOUNT, …`', 'expects the visible side, best first, or `empty`'],
  [
    '`order NAME STATUS open A pending B filled C`',
    'expects the state of an order in the matcher, or `forgotten`',
  ],
]

const HEAD = `# Scenarios of the book

Each \`.book\` file is one test of the order book; its first line is the title. The statements of a file act on one market, which starts empty. Every effect
must be listed. \`#\` starts a comment. Made from \`lines.ts\` by \`WRITE_DOCS=1 ./venue test dist/test/scenarios/run-scenarios.test.js\`.

| line | meaning |
| - | - |
`

/** The page of the lines. */
export const linesPage = (): string =>
  `${HEAD}${LINES.map(([line, meaning]) => `| ${line} | ${meaning} |\n`).join('')}`

/** The first word of each line that is named. */
export const firstWords = (): Set<string> =>
  new Set(
    LINES.flatMap(([line]) =>
      [...line.matchAll(/`([a-z-]+|->)[ `]/g)].map(([, word = '']) => word),
    ),
  )
