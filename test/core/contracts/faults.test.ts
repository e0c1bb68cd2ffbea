import { expect } from 'chai'
import type { Hex } from '../../../core/action.js'
import { revertName } from '../../../chain/abi/errors.js'
import { venueFaultOf, type FaultOf } from '../../../core/contracts/faults.js'
import { tradingOf } from '../../../core/contracts/registry.js'

/** Reverts by their selectors, and what is at fault for them if no order is. */
const REVERTS: readonly (readonly [selector: Hex, name: string, fault: FaultOf | undefined])[] = [
  ['0x97edd0fb', 'M_OnlyTradeExecutor', 'deployment'],
  ['0xc07382c5', 'M_OnlyAllowedModule', 'deployment'],
  ['0x83d3980b', 'BM_AdjustmentsPaused', 'manager'],
  ['0x8102bcdc', 'BM_AssetCapExceeded', 'manager'],
  ['0xc67c6584', 'BM_UnauthorizedCall', 'manager'],
  ['0x1141796d', 'BLF_DataTooOld', 'holdings'],
  ['0x6a9fcd90', 'PA_InvalidImpactPrices', 'manager'],
  ['0x09598580', 'SRM_PortfolioBelowMargin', undefined],
  ['0x703701fb', 'SRM_NoNegativeCash', undefined],
  ['0x72d35b56', 'BM_AccountUnderLiquidation', undefined],
  ['0x7b579bbc', 'SRM_UnsupportedAsset', undefined],
  ['0x444d325a', 'SRM_TooManyAssets', undefined],
  ['0xbd8ac1f7', 'MW_UnknownManager', undefined],
  ['0xe5b25796', 'WERC_CannotBeNegative', undefined],
  ['0x64c099fa', 'OV_InvalidSignature', undefined],
  ['0xfcc6c155', 'OV_SignerNotOwnerOrSessionKeyExpired', undefined],
  ['0x3536eebd', 'OV_ActionExpired', undefined],
  ['0xdd223ec1', 'OV_InvalidActionOwner', undefined],
  ['0x02c7ec25', 'TM_FeeTooHigh', undefined],
  ['0xfea8fa6f', 'TM_FillLimitCrossed', undefined],
  ['0x15b2a441', 'TM_InvalidNonce', undefined],
]

describe('faults of the venue on spot', () => {
  const spot = tradingOf({ contractType: 'spot' })
  for (const [selector, name, fault] of REVERTS) {
    it(`${name} is ${fault === undefined ? 'no such fault' : `one of the ${fault}`}`, () => {
      expect(revertName(selector)).to.equal(name)
      expect(venueFaultOf(spot, name)).to.equal(fault)
    })
  }

  it('a contract type adds its own', () => {
    const faults = new Map([['FT_IndexStale', 'manager' as const]])
    expect(venueFaultOf({ faults }, 'FT_IndexStale')).to.equal('manager')
    expect(venueFaultOf({ faults }, 'BM_AdjustmentsPaused')).to.equal('manager')
    expect(venueFaultOf(spot, 'FT_IndexStale')).to.equal(undefined)
  })
})

describe('faults of the venue on margin markets', () => {
  const OF_FUTURES: Readonly<Record<string, FaultOf>> = {
    FT_IndexStale: 'deployment',
    FT_OutsideFillBand: 'price',
    FT_TradingEnded: 'deployment',
    FA_AlreadySettled: 'deployment',
    FA_UnknownSeries: 'deployment',
    FM_OnlyTradeModule: 'deployment',
    SRM_UnsupportedAsset: 'manager',
  }
  const perpetual = tradingOf({ contractType: 'perpetual' })
  const future = tradingOf({ contractType: 'future' })

  for (const [name, fault] of Object.entries(OF_FUTURES)) {
    it(`${name} is one of the ${fault} on a future, and none on a perpetual (SET-033)`, () => {
      expect(venueFaultOf(future, name)).to.equal(fault)
      expect(venueFaultOf(perpetual, name)).to.equal(undefined)
    })
  }

  it('a feed that is too old is one of the manager', () => {
    for (const each of [perpetual, future])
      expect(venueFaultOf(each, 'BLF_DataTooOld')).to.equal('manager')
  })
})
