// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {FixedPoint} from "./FixedPoint.sol";
import {IAuction, ICashAsset, ISubAccounts} from "./interfaces.sol";
import {TokenEscrow} from "./TokenEscrow.sol";

/// Margin cash, backed one to one by the stable token. Balances may be negative if the account's manager allows it.
/// There is no interest, so both indices stay at one.
contract CashAsset is ICashAsset, TokenEscrow {
    using FixedPoint for uint256;
    using SafeCast for int256;
    using SafeCast for uint256;

    uint256 public constant borrowIndex = 1e18;
    uint256 public constant supplyIndex = 1e18;
    uint256 public constant accruedSmFees = 0;

    uint256 public totalSupply;
    uint256 public totalBorrow;
    /// Cash that settlements of positions created, less what they removed: profit is settled before the loss behind it.
    int256 public netSettledCash;
    uint256 public immutable lastTimestamp = block.timestamp;
    /// True while cash is worth less than the stable token, after a loss that the security module could not pay.
    bool public temporaryWithdrawFeeEnabled;
    IAuction public liquidationModule;

    event SettledCashUpdated(int256 amountChanged, int256 currentSettledCash);
    event WithdrawFeeDisabled(uint256 exchangeRate);
    event WithdrawFeeEnabled(uint256 exchangeRate);

    error CA_InvalidSubId();
    error CA_NotLiquidationModule();
    error CA_OnlyAccountOwner();
    error CA_WithdrawBlockedByOngoingAuction();

    constructor(ISubAccounts subAccounts_, IERC20Metadata token_) TokenEscrow(subAccounts_, token_) {}

    function setLiquidationModule(IAuction _liquidationModule) external onlyOwner {
        liquidationModule = _liquidationModule;
    }

    function depositToNewAccount(address recipient, uint256 stableAmount, address manager)
        external
        returns (uint256 newAccountId)
    {
        newAccountId = subAccounts.createAccount(recipient, manager);
        _deposit(newAccountId, stableAmount);
    }

    function calculateBalanceWithInterest(uint256 accountId) external view returns (int256) {
        return subAccounts.getBalance(accountId, address(this), 0);
    }

    // --- settlement and losses

    function updateSettledCash(int256 amountCash) external {
        if (!whitelistedManager[msg.sender]) revert MW_UnknownManager();
        netSettledCash += amountCash;
        emit SettledCashUpdated(amountCash, netSettledCash);
    }

    function socializeLoss(uint256 lossAmountInCash, uint256 accountToReceive) external {
        if (msg.sender != address(liquidationModule)) revert CA_NotLiquidationModule();
        subAccounts.assetAdjustment(accountToReceive, 0, lossAmountInCash.toInt256());
        uint256 rate = getCashToStableExchangeRate();
        if (rate == FixedPoint.ONE || temporaryWithdrawFeeEnabled) return;
        temporaryWithdrawFeeEnabled = true;
        emit WithdrawFeeEnabled(rate);
    }

    /// Ends the fee once all cash is backed again; every caller may do so.
    function disableWithdrawFee() external {
        uint256 rate = getCashToStableExchangeRate();
        if (!temporaryWithdrawFeeEnabled || rate != FixedPoint.ONE) return;
        temporaryWithdrawFeeEnabled = false;
        emit WithdrawFeeDisabled(rate);
    }

    /// Stable tokens held per cash issued, at most one, rounded down.
    function getCashToStableExchangeRate() public view returns (uint256) {
        int256 issued = totalSupply.toInt256() - totalBorrow.toInt256() - netSettledCash;
        uint256 backing = token.balanceOf(address(this)) * unit;
        return issued <= backing.toInt256() ? FixedPoint.ONE : backing.div(issued.toUint256());
    }

    function _burnedFor(uint256 assetAmount) internal view override returns (uint256) {
        if (address(liquidationModule) != address(0) && liquidationModule.getIsWithdrawBlocked()) {
            revert CA_WithdrawBlockedByOngoingAuction();
        }
        uint256 amount = assetAmount * unit;
        if (!temporaryWithdrawFeeEnabled) return amount;
        return Math.mulDiv(amount, FixedPoint.ONE, getCashToStableExchangeRate(), Math.Rounding.Ceil);
    }

    // --- balances

    function handleAdjustment(uint256 accountId, uint256 subId, int256 amount, int256 preBalance, uint256)
        external
        onlyAccounts
        returns (int256 postBalance, bool needsAllowance)
    {
        if (subId != 0) revert CA_InvalidSubId();
        _knownManager(accountId);
        postBalance = preBalance + amount;
        (uint256 suppliedBefore, uint256 owedBefore) = _split(preBalance);
        (uint256 suppliedAfter, uint256 owedAfter) = _split(postBalance);
        if (suppliedBefore != suppliedAfter) totalSupply = totalSupply + suppliedAfter - suppliedBefore;
        if (owedBefore != owedAfter) totalBorrow = totalBorrow + owedAfter - owedBefore;
        return (postBalance, amount < 0);
    }

    function _split(int256 balance) private pure returns (uint256 supplied, uint256 owed) {
        uint256 size = SignedMath.abs(balance);
        return balance < 0 ? (uint256(0), size) : (size, uint256(0));
    }

    function _refuseStranger() internal pure override {
        revert CA_OnlyAccountOwner();
    }
}
