// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {ISubAccounts} from "./interfaces.sol";
import {TokenEscrow} from "./TokenEscrow.sol";

/// Margin cash, backed by the stable token at one to one. It may be owed: whether an account may do that is its
/// manager's decision. No interest runs here, so both indices stay at one.
contract CashAsset is TokenEscrow {
    uint256 public constant borrowIndex = 1e18;
    uint256 public constant supplyIndex = 1e18;
    uint256 public constant accruedSmFees = 0;
    int256 public constant netSettledCash = 0;
    bool public constant temporaryWithdrawFeeEnabled = false;
    address public constant liquidationModule = address(0);

    uint256 public totalSupply;
    uint256 public totalBorrow;
    uint256 public immutable lastTimestamp = block.timestamp;

    error CA_InvalidSubId();
    error CA_OnlyAccountOwner();

    constructor(ISubAccounts subAccounts_, IERC20Metadata token_) TokenEscrow(subAccounts_, token_) {}

    function depositToNewAccount(address recipient, uint256 stableAmount, address manager)
        external
        returns (uint256 newAccountId)
    {
        newAccountId = subAccounts.createAccount(recipient, manager);
        _deposit(newAccountId, stableAmount);
    }

    function getCashToStableExchangeRate() external pure returns (uint256) {
        return 1e18;
    }

    function calculateBalanceWithInterest(uint256 accountId) external view returns (int256) {
        return subAccounts.getBalance(accountId, address(this), 0);
    }

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
