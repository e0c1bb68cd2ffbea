/** The change that proposed a settlement, which is named by it: `<market>:<seq>`. */
export const changeOfSettlement = (settlementId: string): number =>
  Number(settlementId.slice(settlementId.lastIndexOf(':') + 1))
