// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IAsset, ISubAccounts} from "./interfaces.sol";

/// An asset that accounts of registered managers may hold.
abstract contract ManagedAsset is IAsset, Ownable {
    /// The accounts that hold the asset.
    ISubAccounts public immutable subAccounts;
    /// Managers whose accounts may hold the asset.
    mapping(address manager => bool) public whitelistedManager;

    event WhitelistManagerSet(address _manager, bool _whitelisted);

    error MW_OnlyAccounts();
    error MW_UnknownManager();

    modifier onlyAccounts() {
        if (msg.sender != address(subAccounts)) revert MW_OnlyAccounts();
        _;
    }

    constructor(ISubAccounts subAccounts_) Ownable(msg.sender) {
        subAccounts = subAccounts_;
    }

    /// Registers or removes a manager; the owner only. A registered manager may change balances of its accounts without
    /// their owners, within what the asset itself allows. While removed, no balance of its accounts changes.
    function setWhitelistManager(address _manager, bool _whitelisted) external onlyOwner {
        whitelistedManager[_manager] = _whitelisted;
        emit WhitelistManagerSet(_manager, _whitelisted);
    }

    /// The account's manager, which must be registered here.
    function _knownManager(uint256 accountId) internal view returns (address manager) {
        manager = subAccounts.manager(accountId);
        if (!whitelistedManager[manager]) revert MW_UnknownManager();
    }
}
