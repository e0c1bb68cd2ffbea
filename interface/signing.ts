import { z } from 'zod'
import { address, hash, integer, type Shape, signature } from './values.js'

/** What a client needs to sign for this venue (sections 5.1 and 5.2), and signatures to compare with. Additive. */

const Domain = z
  .object({
    name: z.string(),
    version: z.string(),
    chainId: z.int().min(1),
    verifyingContract: address,
  })
  .meta({ id: 'SigningDomain', description: 'An EIP-712 domain.' })

const frame = z.object({
  text: z
    .string()
    .describe('Signed with `personal_sign`; words in braces are fields of the frame.'),
  max_valid_seconds: z.int().min(1),
})

/** The body of `GET /v1/venue`. */
export const VenueFacts = z
  .object({
    release: z.string().describe('Of the software.'),
    chain_id: z.int().min(1),
    chain: z
      .object({
        name: z.string(),
        rpc_url: z
          .string()
          .optional()
          .describe('Where a wallet that does not know the chain finds it.'),
        explorer_url: z
          .string()
          .optional()
          .describe('Of a block explorer: `/tx/<hash>` shows a transaction.'),
      })
      .describe('What a wallet is told when it is to add the chain.'),
    contracts: z
      .record(z.string(), address)
      .describe(
        'By name. `sub_account_creator` opens and funds an account in one transaction of its owner (`createAndDepositSubAccount`), `<contract type>_manager` is the manager of such accounts, `usdc` and `cngn` are the tokens, `wrapped_usdc`, `wrapped_cngn` and `cash_asset` the escrows that take them. What one market calls besides is in its entry under `markets`.',
      ),
    domains: z.object({
      actions: Domain.describe('Orders, cancels, deposits and withdrawals.'),
      permits: Domain.describe('EIP-2612 permits on USDC.'),
    }),
    types: z
      .record(z.string(), z.string())
      .describe('EIP-712 type strings by name, and the words of `data` for each module.'),
    markets: z.array(
      z.object({
        market: z.string(),
        trade_module_address: address,
        asset_address: address,
        sub_id: integer,
        amount_scale: integer.describe('Signed amount for 1.0 of size.'),
        taker_fee_bps: z.number().min(0),
        maker_fee_bps: z.number().min(0),
      }),
    ),
    frames: z.object({
      header: z.string().describe('Carries the base64url of a frame for the history.'),
      domain: z.string(),
      product: z.string(),
      history: frame,
      socket: frame,
    }),
    limits: z
      .record(z.string(), z.int().min(0))
      .describe(
        'Bounds of requests: bytes, lengths, seconds, and the smallest deposit in units of 6 decimals.',
      ),
    documents: z.object({
      openapi: z.string(),
      asyncapi: z.string(),
      signing_vectors: z.string(),
    }),
    devnet: z
      .object({
        demo_accounts: z.string().describe('Where to ask for accounts with play money.'),
      })
      .optional()
      .describe('On a devnet alone: its money is worth nothing.'),
  })
  .meta({ id: 'Venue', description: 'What a client needs to sign for this venue.' })
export type VenueFacts = Shape<typeof VenueFacts>

const SigningVector = z
  .object({
    name: z.string(),
    scheme: z.enum(['eip712', 'eip191']),
    domain: Domain.optional(),
    type: z.string().optional(),
    message: z.record(z.string(), z.string()).optional().describe('Numbers as decimal text.'),
    domain_separator: hash.optional(),
    type_hash: hash.optional(),
    struct_hash: hash.optional(),
    text: z.string().optional().describe('EIP-191: what is signed.'),
    digest: hash,
    signature,
    body: z.looseObject({}).optional().describe('What a request sends.'),
  })
  .meta({ id: 'SigningVector', description: 'One signature, step by step.' })
export type SigningVector = Shape<typeof SigningVector>

/** The body of `GET /v1/signing-vectors.json`. */
export const SigningVectors = z
  .object({
    private_key: hash.describe('Published with every vector: it must never hold money.'),
    address,
    vectors: z.array(SigningVector),
  })
  .meta({ id: 'SigningVectors', description: 'Signatures of this venue to compare with.' })
export type SigningVectors = Shape<typeof SigningVectors>

/** The body of `GET /docs/examples.json`: what the page of the interface fills in before a reader tries a request. */
export const DocsExamples = z
  .object({
    parameters: z
      .record(z.string(), z.string())
      .describe('Values of parameters and headers by name, for any path that has them.'),
    bodies: z.record(z.string(), z.looseObject({})).describe('Request bodies by path.'),
  })
  .meta({
    id: 'DocsExamples',
    description:
      'Examples for the page of this document. On a devnet some are signed by one of its accounts, newly each time.',
  })
export type DocsExamples = Shape<typeof DocsExamples>
