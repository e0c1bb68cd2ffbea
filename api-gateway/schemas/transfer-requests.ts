import { z } from 'zod'
import { sentAddress, sentHex, sentInteger, signature } from './values.js'

const actionFields = {
  nonce: sentInteger.describe('Any number that this owner has not used with this module.'),
  expiry: sentInteger.describe('Unix seconds, at most one hour ahead.'),
  owner: sentAddress,
  signer: sentAddress.describe('Equal to `owner`.'),
}

export const newDeposit = z
  .object({
    action: z
      .object({
        ...actionFields,
        subaccount_id: sentInteger.describe('`0` opens an account; otherwise your own.'),
        module: sentAddress.describe('The deposit module.'),
        data: sentHex.describe(
          'Three words: amount in base units of USDC (at least 10 USDC), the perp cash asset, the perp risk manager.',
        ),
      })
      .meta({ id: 'DepositAction', description: 'What is signed, as EIP-712 struct `Action`.' }),
    signature,
    permit: z
      .object({
        value: sentInteger.describe('At least the amount.'),
        deadline: sentInteger.describe('Unix seconds.'),
        signature,
      })
      .optional()
      .describe(
        'EIP-2612 permit on USDC for the deposit module; not used when the allowance suffices.',
      ),
  })
  .meta({ id: 'NewDeposit', description: 'A signed deposit. Unknown fields are refused.' })

export const newWithdrawal = z
  .object({
    action: z
      .object({
        ...actionFields,
        subaccount_id: sentInteger.describe('The account, not `0`.'),
        module: sentAddress.describe('The withdrawal module.'),
        data: sentHex.describe(
          'Two words: the asset that is held (not the token it pays out), the amount in base units of the token.',
        ),
      })
      .meta({ id: 'WithdrawalAction', description: 'What is signed, as EIP-712 struct `Action`.' }),
    signature,
  })
  .meta({ id: 'NewWithdrawal', description: 'A signed withdrawal. Unknown fields are refused.' })
