import type { Deployment } from '../../chain/deployment.js'
import { notInCustody } from '../../core/refusals.js'
import { nonceSpent, notTransferOwner } from '../../core/transfer-refusals.js'
import type { TransferRefusal } from '../../core/transfer-refusals.js'
import { validateWithdrawal } from '../../core/validate-withdrawal.js'
import type { ValidWithdrawal } from '../../core/validate-withdrawal.js'
import type { SubmitterChain } from '../submitter/open-chain.js'
import { readHeldAccount } from '../submitter/read-held-account.js'
import type { TransferRules } from '../submitter/transfer-rules.js'

export const WITHDRAWALS_PER_MINUTE = 5

export interface WithdrawalDeps extends Pick<SubmitterChain, 'reader' | 'accounts'> {
  readonly deployment: Deployment
}

/** The escrow pays out before it looks at the account, so its token may be the one that refuses. */
const TOKEN_SHORT =
  /^(ERC20InsufficientBalance|Error: ERC20: transfer amount exceeds balance|Panic\(0x11\)|SafeCastOverflowedUintToInt)$/
const RACES = /^(BM_NonceAlreadyUsed|OV_InvalidActionOwner|ERC721\w+)$/

/** What a withdrawal out of an account that Matching holds has to satisfy (interface 4.3). */
export function createWithdrawalRules(deps: WithdrawalDeps): TransferRules<ValidWithdrawal> {
  const { withdrawalModule, wrappedUsdc, wrappedCngn, cashAsset } = deps.deployment
  const withdrawable = [wrappedUsdc, wrappedCngn, cashAsset]
  return {
    kind: 'withdrawal',
    module: withdrawalModule,
    contracts: { withdrawalModule, wrappedUsdc, wrappedCngn, cashAsset },
    perMinute: WITHDRAWALS_PER_MINUTE,
    validate: (body, nowMs) => validateWithdrawal(body, { withdrawalModule, withdrawable, nowMs }),
    preCheck: (withdrawal) => preCheck(deps, withdrawal),
    need: () => Promise.resolve('nothing'),
    preparation: () => undefined,
    isRace: (revert) => RACES.test(revert),
    revertName: (asset, revert) => {
      if (!TOKEN_SHORT.test(revert)) return revert
      return asset === cashAsset ? 'SRM_NoNegativeCash' : 'WERC_CannotBeNegative'
    },
  }
}

async function preCheck(
  { reader, accounts, deployment }: WithdrawalDeps,
  { action }: ValidWithdrawal,
): Promise<TransferRefusal | undefined> {
  const { owner, nonce, subaccountId } = action
  const [account, used] = await Promise.all([
    readHeldAccount(accounts, subaccountId),
    reader.nonceUsed(deployment.withdrawalModule, owner, nonce),
  ])
  if (!account.inCustody) return notInCustody(subaccountId)
  if (account.recordedOwner !== owner) return notTransferOwner('withdrawal', subaccountId)
  return used ? nonceSpent('withdrawal') : undefined
}
