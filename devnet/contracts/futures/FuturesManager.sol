// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {AssetBalance, AssetDelta, ISubAccounts} from "../interfaces.sol";
import {FutureMath} from "./FutureMath.sol";
import {FuturesLiquidation} from "./FuturesLiquidation.sol";
import {IFutureAsset} from "./interfaces.sol";
import {VariationLedger} from "./VariationLedger.sol";

/// One trading account for spot balances and futures margin. An account without a position and without a debt is free
/// to spend what it holds, whatever the index does; with either, whatever may weaken it needs initial margin. Pause,
/// caps and data for feeds come first, as with every manager.
contract FuturesManager is FuturesLiquidation {
    using SafeCast for int256;
    using SafeCast for uint256;

    /// Modules that may move positions and state fill prices.
    mapping(address module => bool) public tradeModules;
    /// Accounts with a fill worse than the mark or the index; set by a trade module, cleared by the check in the same call.
    mapping(uint256 accountId => bool) private paidForFill;

    event TradeModuleSet(address module, bool isAllowed);

    error FM_OnlyTradeModule();

    constructor(ISubAccounts subAccounts_, IFutureAsset futureAsset_, address wrappedUsdc_, address wrappedCngn_)
        VariationLedger(subAccounts_, futureAsset_, wrappedUsdc_, wrappedCngn_)
    {}

    /// Admits or removes a module that may move positions; the owner only. It states fill prices, and so moves variation
    /// margin.
    function setTradeModule(address module, bool isAllowed) external onlyOwner {
        tradeModules[module] = isAllowed;
        emit TradeModuleSet(module, isAllowed);
    }

    /// Books what a fill at another price than the mark is worth: to the buyer amount * 1000 * (mark - price) in cNGN,
    /// from the seller the same; exact, for amounts are whole steps. The positions move at the mark, or at the price that they
    /// are accrued to, and then the ledgers get the distance to that. A side that pays more
    /// than its position is worth, at the mark or at the index, needs initial margin afterwards. Trade modules only.
    function recordFill(uint256 subId, uint256 buyer, uint256 seller, uint256 amount, int256 price)
        external
        returns (uint256 mark, int256 buyerVariation)
    {
        if (!tradeModules[msg.sender]) revert FM_OnlyTradeModule();
        _requireManaged(buyer);
        _requireManaged(seller);
        Book memory book;
        (book, mark,) = _bookOf(subId);
        uint256 paid = price.toUint256();
        int256 booked = FutureMath.variation(amount.toInt256(), paid, book.price);
        _credit(buyer, booked);
        _credit(seller, -booked);
        buyerVariation = FutureMath.variation(amount.toInt256(), paid, mark);
        (uint256 index,,) = futureAsset.indexDetail();
        if (paid > Math.min(mark, index)) paidForFill[buyer] = true;
        if (paid < Math.max(mark, index)) paidForFill[seller] = true;
    }

    /// In this order: known assets and who moves positions, payment of variation margin, number of assets, margin.
    function _checkAccount(
        uint256 accountId,
        address caller,
        AssetDelta[] calldata deltas,
        AssetBalance[] memory held
    ) internal override {
        bool addsRisk = _checkDeltas(accountId, caller, deltas);
        _settle(accountId, held);
        if (held.length > maxAccountSize) revert SRM_TooManyAssets();
        if (paidForFill[accountId]) {
            delete paidForFill[accountId];
            addsRisk = true;
        }
        if (addsRisk && _isExposed(accountId, held) && getMargin(accountId, true) < 0) {
            revert SRM_PortfolioBelowMargin();
        }
    }

    /// Whether the call may have weakened the account: it paid USDC or cNGN, or a position grew or changed its sign.
    function _checkDeltas(uint256 accountId, address caller, AssetDelta[] calldata deltas)
        private
        view
        returns (bool addsRisk)
    {
        for (uint256 i = 0; i < deltas.length; i++) {
            AssetDelta calldata d = deltas[i];
            if (!details[d.asset].isWhitelisted) revert SRM_UnsupportedAsset();
            if (d.asset == address(futureAsset)) {
                if (!tradeModules[caller]) revert FM_OnlyTradeModule();
                int256 post = subAccounts.getBalance(accountId, d.asset, d.subId);
                if (!_reduces(post - d.delta, post)) addsRisk = true;
            } else if (d.delta < 0) {
                addsRisk = true;
            }
        }
    }

    /// A position became smaller and kept its sign, or is as it was.
    function _reduces(int256 pre, int256 post) private pure returns (bool) {
        if (post == 0 || post == pre) return true;
        return SignedMath.abs(post) < SignedMath.abs(pre) && (post > 0) == (pre > 0);
    }

    /// Has a position that is not settled, or owes cNGN.
    function _isExposed(uint256 accountId, AssetBalance[] memory held) private view returns (bool) {
        if (_ledgerOf(accountId) < 0) return true;
        for (uint256 i = 0; i < held.length; i++) {
            if (held[i].asset != address(futureAsset)) continue;
            (,, bool isSettled) = futureAsset.valuation(held[i].subId);
            if (!isSettled) return true;
        }
        return false;
    }
}
