// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {Nonces} from "@openzeppelin/contracts/utils/Nonces.sol";

/// A test token with 6 decimals; its owner and the minters that the owner names may mint it.
abstract contract DevToken is ERC20, Ownable {
    mapping(address => bool) public isMinter;

    error OnlyMinter();

    constructor() Ownable(msg.sender) {
        isMinter[msg.sender] = true;
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function setMinter(address minter, bool allowed) external onlyOwner {
        isMinter[minter] = allowed;
    }

    function mint(address to, uint256 amount) external {
        if (!isMinter[msg.sender]) revert OnlyMinter();
        _mint(to, amount);
    }
}

/// Stands in for cNGN.
contract DevCngn is DevToken {
    constructor() ERC20("cNGN", "cNGN") {}
}

/// Stands in for USDC, EIP-2612 permit and its EIP-712 domain (name "USD Coin", version "2") included.
contract DevUsdc is DevToken, EIP712, Nonces {
    string public constant version = "2";
    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

    constructor() ERC20("USD Coin", "USDC") EIP712("USD Coin", version) {}

    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    function permit(
        address owner,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        require(block.timestamp <= deadline, "FiatTokenV2: permit is expired");
        bytes32 hash =
            _hashTypedDataV4(keccak256(abi.encode(PERMIT_TYPEHASH, owner, spender, value, _useNonce(owner), deadline)));
        (address signer, ECDSA.RecoverError err,) = ECDSA.tryRecover(hash, v, r, s);
        require(err == ECDSA.RecoverError.NoError && signer == owner, "EIP2612: invalid signature");
        _approve(owner, spender, value);
    }
}
