import { expect } from 'chai'
import fc from 'fast-check'
import {
  EMPTY_REVERT,
  isUnnamed,
  NOT_CARRIED_OUT,
  NOT_TRIED,
  OUT_OF_GAS,
  panicRevert,
  revertFields,
  revertFieldsOf,
  selectorRevert,
  textRevert,
  UNKNOWN_REVERT,
} from '../../core/revert.js'
import { revertName } from '../../interface/values.js'

describe('a revert without a name', () => {
  it('is one that tells of no rule of the contracts', () => {
    for (const name of ['EmptyRevert', 'Error', 'Panic', 'UnknownRevert']) {
      expect(isUnnamed(name), name).to.equal(true)
    }
    for (const name of ['TM_FeeTooHigh', 'OutOfGas', 'NotTried', '', 'error']) {
      expect(isUnnamed(name), name).to.equal(false)
    }
  })
})

describe('a revert in a public answer', () => {
  it('keeps the name that its contract declares', () => {
    expect(revertFields('TM_FeeTooHigh')).to.deep.equal({ revert: 'TM_FeeTooHigh' })
  })

  it('has a name of its own where no error is declared', () => {
    expect(revertFields(EMPTY_REVERT)).to.deep.equal({ revert: 'EmptyRevert' })
    expect(revertFields(OUT_OF_GAS)).to.deep.equal({ revert: 'OutOfGas' })
    expect(revertFields(NOT_TRIED)).to.deep.equal({ revert: 'NotTried' })
    expect(revertFields(NOT_CARRIED_OUT)).to.deep.equal({ revert: 'NotCarriedOut' })
    expect(revertFields(UNKNOWN_REVERT)).to.deep.equal({ revert: 'UnknownRevert' })
  })

  it('states text, code or selector beside its name', () => {
    const text = 'ERC20: transfer amount exceeds balance\nof the sender'
    expect(revertFields(textRevert(text))).to.deep.equal({
      revert: 'Error',
      detail: { message: text },
    })
    const panic = { revert: 'Panic', detail: { code: '0x12' } }
    expect(revertFields(panicRevert(0x12n))).to.deep.equal(panic)
    const unknown = { revert: 'UnknownRevert', detail: { selector: '0xdeadbeef' } }
    expect(revertFields(selectorRevert('0xdeadbeef01'))).to.deep.equal(unknown)
  })

  it('is absent where there is none', () => {
    expect(revertFieldsOf(undefined)).to.deep.equal({})
    expect(revertFieldsOf('TM_X')).to.deep.equal({ revert: 'TM_X' })
  })

  it('is an identifier whatever was stored, and stays one', () => {
    fc.assert(
      fc.property(fc.string(), (stored) => {
        const { revert } = revertFields(stored)
        expect(revertName.safeParse(revert).success).to.equal(true)
        expect(revertFields(revert)).to.deep.equal({ revert })
      }),
    )
  })
})
