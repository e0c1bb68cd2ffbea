/**
 * The browser's wallet, for the page. No file here knows the DOM or a framework:
 *
 * - `fault.ts`       WalletFault: every failure, with a sentence and a cure that a page shows as they are.
 * - `provider.ts`    what a wallet is (EIP-1193), and `askWallet`, the one place that asks it.
 * - `discover.ts`    `followWallets`: the wallets of this browser (EIP-6963), as they announce themselves.
 * - `chain.ts`       `venueChain(facts)`, `lookAtChain`, `switchChain`: is the wallet on the venue's chain, and the way there.
 * - `connection.ts`  `createConnection`: chosen wallet, account and chain as one state, by the wallet's events.
 * - `signer.ts`      `walletSigner`: orders, cancels, frames and money signed by the wallet.
 * - `transactions.ts` `createSender`: the owner's transactions, with hash and receipt.
 * - `session-key.ts` `createTrading`: a key made here, registered, renewed and revoked; `createKeyShelf` keeps it for the tab.
 * - `vault.ts`       `openVault`: keeps it beyond the tab, under a key that no script can read out.
 * - `open-account.ts` `openTradingAccount`, `signFunding`: guided steps with progress and hashes.
 */

/** What went wrong, for a program; a page shows sentence and cure. */
export type FaultCode =
  | 'rejected'
  | 'busy'
  | 'locked'
  | 'unsupported'
  | 'disconnected'
  | 'silent'
  | 'unknown_chain'
  | 'wrong_chain'
  | 'not_the_venue'
  | 'account_changed'
  | 'no_gas'
  | 'reverted'
  | 'no_receipt'
  | 'no_tokens'
  | 'not_seen'
  | 'not_kept'
  | 'failed'

/** A failure of the wallet, or of what it was asked for. `message` is a whole sentence, `cure` another one. */
export class WalletFault extends Error {
  override readonly name = 'WalletFault'

  constructor(
    readonly code: FaultCode,
    message: string,
    readonly cure: string,
    /** The transaction that it is about. */
    readonly hash?: string,
  ) {
    super(message)
  }
}

type FaultRow = readonly [code: FaultCode, message: (deed: string) => string, cure: string]

/** Codes of EIP-1193 and EIP-1474, and those that wallets use besides. */
const BY_CODE: ReadonlyMap<number, FaultRow> = new Map<number, FaultRow>([
  [
    4001,
    ['rejected', (deed) => `You rejected ${deed} in the wallet.`, 'Try again when you are ready.'],
  ],
  [
    -32002,
    [
      'busy',
      () => 'The wallet is still waiting for an answer to an earlier question.',
      'Open the wallet and answer it, then try again.',
    ],
  ],
  [
    4100,
    [
      'locked',
      () => 'The wallet does not let this page use the account.',
      'Unlock the wallet and connect the account again.',
    ],
  ],
  [4200, ['unsupported', (deed) => `The wallet cannot do ${deed}.`, 'Use another wallet.']],
  [-32601, ['unsupported', (deed) => `The wallet cannot do ${deed}.`, 'Use another wallet.']],
  [
    4900,
    [
      'disconnected',
      () => 'The wallet has lost its connection.',
      'Check the wallet’s network connection, then try again.',
    ],
  ],
  [
    4901,
    [
      'disconnected',
      () => 'The wallet has lost its connection to the chain.',
      'Check the wallet’s network, then try again.',
    ],
  ],
  [
    4902,
    [
      'unknown_chain',
      () => 'The wallet does not know the venue’s chain.',
      'Add the chain to the wallet, then try again.',
    ],
  ],
])

/**
 * What a wallet has refused, as a fault; `deed` is what it was asked for, as "the signature". The wallet's own words are kept as
 * `cause` and never shown: they are for developers.
 */
export function faultOf(error: unknown, deed: string): WalletFault {
  if (error instanceof WalletFault) return error
  const code = codeOf(error)
  const known = code === undefined ? undefined : BY_CODE.get(code)
  const fault =
    known === undefined
      ? NO_GAS.test(textOf(error))
        ? noGas(deed)
        : new WalletFault(
            'failed',
            `The wallet could not do ${deed}.`,
            'Try again; if it fails again, reload the wallet or use another one.',
          )
      : new WalletFault(known[0], known[1](deed), known[2])
  fault.cause = error
  return fault
}

const noGas = (deed: string): WalletFault =>
  new WalletFault(
    'no_gas',
    `The account has too little ether to pay for ${deed}.`,
    'Send it some ether on this chain, then try again.',
  )

const NO_GAS = /insufficient funds/i

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

/** Some wallets wrap the error of the node or of themselves: the innermost known code counts. */
function codeOf(error: unknown): number | undefined {
  const { code, data, cause } = fieldsOf(error)
  const { originalError } = fieldsOf(data)
  for (const inner of [originalError, cause]) {
    const found = fieldsOf(inner).code
    if (typeof found === 'number' && BY_CODE.has(found)) return found
  }
  return typeof code === 'number' ? code : undefined
}

const textOf = (error: unknown): string => {
  const { message } = fieldsOf(error)
  return typeof message === 'string' ? message : ''
}
