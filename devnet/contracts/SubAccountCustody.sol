// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ISubAccounts} from "./interfaces.sol";

/// Holds the NFTs of accounts that trade, and records their owners. A withdrawal takes a request and a cooldown, so
/// that a match in flight still finds the account.
abstract contract SubAccountCustody {
    uint256 public constant WITHDRAW_COOLDOWN = 30 minutes;

    ISubAccounts public immutable subAccounts;
    mapping(uint256 accountId => address owner) public subAccountToOwner;
    /// Time at which the owner requested the account's withdrawal; 0 without a request.
    mapping(uint256 accountId => uint256 requestedAt) public withdrawTimestamp;

    event DepositedSubAccount(uint256 indexed accountId, address indexed owner);
    event WithdrawAccountCooldown(uint256 indexed accountId, address user);
    event WithdrewSubAccount(uint256 indexed accountId);

    error SAM_AlreadyRequestedWithdraw();
    error SAM_CooldownNotElapsed();
    error SAM_CooldownNotStarted();
    error SAM_NotOwnerAddress();

    constructor(ISubAccounts subAccounts_) {
        subAccounts = subAccounts_;
    }

    function createSubAccount(address manager) external returns (uint256 accountId) {
        accountId = subAccounts.createAccount(address(this), manager);
        _recordOwner(accountId, msg.sender);
    }

    function depositSubAccount(uint256 accountId) external {
        depositSubAccountFor(accountId, msg.sender);
    }

    function depositSubAccountFor(uint256 accountId, address recipient) public {
        subAccounts.transferFrom(msg.sender, address(this), accountId);
        _recordOwner(accountId, recipient);
    }

    function requestWithdrawAccount(uint256 accountId) external {
        if (subAccountToOwner[accountId] != msg.sender) revert SAM_NotOwnerAddress();
        if (withdrawTimestamp[accountId] != 0) revert SAM_AlreadyRequestedWithdraw();
        withdrawTimestamp[accountId] = block.timestamp;
        emit WithdrawAccountCooldown(accountId, msg.sender);
    }

    /// Any caller may complete the owner's request; the account goes to the owner.
    function completeWithdrawAccount(uint256 accountId) external {
        uint256 requestedAt = withdrawTimestamp[accountId];
        if (requestedAt == 0) revert SAM_CooldownNotStarted();
        if (block.timestamp < requestedAt + WITHDRAW_COOLDOWN) revert SAM_CooldownNotElapsed();
        address owner = subAccountToOwner[accountId];
        delete subAccountToOwner[accountId];
        delete withdrawTimestamp[accountId];
        subAccounts.transferFrom(address(this), owner, accountId);
        emit WithdrewSubAccount(accountId);
    }

    function _recordOwner(uint256 accountId, address owner) internal {
        subAccountToOwner[accountId] = owner;
        emit DepositedSubAccount(accountId, owner);
    }
}
