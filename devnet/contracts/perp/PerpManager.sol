// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {BaseManager} from "../BaseManager.sol";
import {FixedPoint} from "../FixedPoint.sol";
import {
    AssetAdjustment,
    AssetBalance,
    AssetDelta,
    IAuction,
    ICashAsset,
    IPerpAsset,
    ISubAccounts
} from "../interfaces.sol";
import {MarginRules} from "./MarginRules.sol";

/// Manager of perpetual accounts: settles positions into cash, asks for initial margin when risk is added, and moves
/// what an auction sells.
contract PerpManager is MarginRules {
    using FixedPoint for int256;
    using SafeCast for uint256;

    bool public borrowingEnabled;
    IAuction public liquidation;
    /// Callers whose changes are held to the maintenance margin only.
    mapping(address caller => bool) public trustedRiskAssessor;

    event BorrowingEnabled(bool borrowingEnabled);
    event PerpSettled(uint256 indexed accountId, address perp, int256 pnl, int256 funding);
    event TrustedRiskAssessorUpdated(address riskAssessor, bool trusted);

    error BM_AccountUnderLiquidation();
    error BM_InvalidBidPortion();
    error BM_OnlyLiquidationModule();
    error SRM_PortfolioBelowMargin();

    modifier onlyLiquidation() {
        if (msg.sender != address(liquidation)) revert BM_OnlyLiquidationModule();
        _;
    }

    constructor(ISubAccounts subAccounts_, address cashAsset_) BaseManager(subAccounts_, cashAsset_) {}

    // --- settings

    function setBorrowingEnabled(bool enabled) external onlyOwner {
        borrowingEnabled = enabled;
        emit BorrowingEnabled(enabled);
    }

    function setLiquidation(IAuction _liquidation) external onlyOwner {
        liquidation = _liquidation;
    }

    function setTrustedRiskAssessor(address riskAssessor, bool trusted) external onlyOwner {
        trustedRiskAssessor[riskAssessor] = trusted;
        emit TrustedRiskAssessorUpdated(riskAssessor, trusted);
    }

    // --- settlement, open to every caller and not stopped by a pause

    /// Cash bears no interest here.
    function settleInterest(uint256 accountId) external {}

    function settlePerpsWithIndex(uint256 accountId) external {
        AssetBalance[] memory held = subAccounts.getAccountBalances(accountId);
        for (uint256 i = 0; i < held.length; i++) {
            if (details[held[i].asset].assetType != PERPETUAL) continue;
            IPerpAsset(held[i].asset).realizeAccountPNL(accountId);
            _settle(accountId, held[i].asset);
        }
    }

    /// Turns realised profit and funding into cash.
    function _settle(uint256 accountId, address perp) private {
        (int256 pnl, int256 funding) = IPerpAsset(perp).settleRealizedPNLAndFunding(accountId);
        int256 cash = pnl + funding;
        if (cash == 0) return;
        ICashAsset(cashAsset).updateSettledCash(cash);
        _adjust(accountId, cashAsset, 0, cash);
        emit PerpSettled(accountId, perp, pnl, funding);
    }

    // --- checks

    function _checkAccount(
        uint256 accountId,
        address caller,
        AssetDelta[] calldata deltas,
        AssetBalance[] memory
    ) internal override {
        if (address(liquidation) != address(0) && liquidation.isAuctionLive(accountId)) {
            revert BM_AccountUnderLiquidation();
        }
        (bool addsRisk, int256 cashDelta) = _settleChanged(accountId, deltas);
        AssetBalance[] memory held = subAccounts.getAccountBalances(accountId);
        if (held.length > maxAccountSize) revert SRM_TooManyAssets();
        if (!addsRisk) return;
        if (!borrowingEnabled && cashDelta < 0 && subAccounts.getBalance(accountId, cashAsset, 0) < 0) {
            revert SRM_NoNegativeCash();
        }
        (int256 margin,) = _marginOf(accountId, held, !trustedRiskAssessor[caller]);
        if (margin < 0) revert SRM_PortfolioBelowMargin();
    }

    /// Settles the perpetuals that changed. Risk is added by cash that leaves the account, a position that was opened or
    /// grew, and collateral that leaves.
    function _settleChanged(uint256 accountId, AssetDelta[] calldata deltas)
        private
        returns (bool addsRisk, int256 cashDelta)
    {
        for (uint256 i = 0; i < deltas.length; i++) {
            AssetDelta calldata change = deltas[i];
            if (change.asset == cashAsset) {
                cashDelta += change.delta;
                if (change.delta < 0) addsRisk = true;
                continue;
            }
            AssetDetail memory detail = details[change.asset];
            if (!detail.isWhitelisted) revert SRM_UnsupportedAsset();
            if (detail.assetType == PERPETUAL) {
                _settle(accountId, change.asset);
                int256 position = subAccounts.getBalance(accountId, change.asset, 0);
                if (position != 0 && (position > 0) == (change.delta > 0) && change.delta != 0) addsRisk = true;
            } else if (change.delta < 0) {
                addsRisk = true;
            }
        }
    }

    // --- liquidation

    function payLiquidationFee(uint256 accountId, uint256 recipient, uint256 cashAmount) external onlyLiquidation {
        _move(accountId, recipient, cashAsset, 0, cashAmount.toInt256());
    }

    /// Moves `portion` of every balance to the liquidator, of cash only what is not reserved, and its bid to the account.
    function executeBid(
        uint256 accountId,
        uint256 liquidatorId,
        uint256 portion,
        uint256 bidAmount,
        uint256 reservedCash
    ) external onlyLiquidation {
        if (portion > FixedPoint.ONE) revert BM_InvalidBidPortion();
        AssetBalance[] memory held = subAccounts.getAccountBalances(accountId);
        for (uint256 i = 0; i < held.length; i++) {
            int256 balance = held[i].balance;
            if (held[i].asset == cashAsset) balance -= reservedCash.toInt256();
            _move(accountId, liquidatorId, held[i].asset, held[i].subId, balance.mul(portion.toInt256()));
        }
        _move(liquidatorId, accountId, cashAsset, 0, bidAmount.toInt256());
    }

    /// Both accounts must be of this manager.
    function _move(uint256 from, uint256 to, address asset, uint256 subId, int256 amount) private {
        if (amount == 0) return;
        _adjust(from, asset, subId, -amount);
        _adjust(to, asset, subId, amount);
    }

    function _adjust(uint256 accountId, address asset, uint256 subId, int256 amount) private {
        subAccounts.managerAdjustment(AssetAdjustment(accountId, asset, subId, amount, bytes32(0)));
    }
}
