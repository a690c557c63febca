/** Public keys made by ssh-keygen and gpg for the tests; the private halves were deleted. */
export const sampleKeys = {
  rsa: {
    key: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQDLq0t7UihdRYlRYrTucgyOuX06JxqvIRpJlQVA05hlArKgGkt3MKnvjWvsGt/mOA5IP1z/V+KHIBdMCGDkXk6sGRlyoNVtuuEl5X+Wi0a8S5B9fgJmSuphUm4Vzb5zSOyu2PBVHS+ajyb3eCeoQdnCKBg1VLIu0arLsX2QLt/5Aw== ada@example',
    md5: '47:89:26:36:ae:4a:69:2c:8a:f8:45:7c:c3:02:aa:83',
    sha256: 'SHA256:kTzRIIeDsjAk4nNqlKTC2myndMBeDP2LeOKN7XbtpbI',
  },
  ed25519: {
    key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINfs6t0QChqNLOkOQ/XUYFnGpTakP65LVesGIbY81xh2 ada@example',
    md5: '39:69:58:47:23:16:65:59:e6:68:f5:d7:97:ac:30:a5',
    sha256: 'SHA256:whEY99EPR1kYvW+N5yATgaWzqW2w343NW7tqr5/fVwk',
  },
  ecdsa256: {
    key: 'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBDAwG0xggF7T4mtRFA3QrqebhhJ+7mOHC6+OLEnG9yUMrhy89USTsiUhMrzSiKtH/Vq7wkWn0icpK4EUaQ0P74M= ada@example',
    md5: '85:9b:c1:0c:d6:36:92:71:c7:17:3c:99:7f:b9:91:28',
    sha256: 'SHA256:9R3T7HZqaV3TcQBwAcoUISRGifpTGiglDnutuLP3CoQ',
  },
  ecdsa521: {
    key: 'ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAELvBMuY/lqM/UJz+qmlGyXpZF69EqLlmh43kgKPVgH7Y7C9E0fvBUmVbtFdBQsBEeAer7qVAEzK8EZtEqoTSjTNQG6FHOeBU0BX5kq6pOwFuCFr9PBsT6VGdNwdVPmFQX1pTEeWSLp1Xw28jDqmt1qWG93bP6AxChV9jeGYJ3kcbVm1A== ada@example',
    md5: 'd1:78:36:90:d3:18:e6:2a:b6:00:8a:1e:f2:36:df:cd',
    sha256: 'SHA256:0Oj1bGSxqWcsrC258o3ac3Q2/+QzgONW/MyT/+8lxHo',
  },
} as const;

/** Of a broken kind that is refused. */
export const dsaKey =
  'ssh-dss AAAAB3NzaC1kc3MAAACBAMlkqmZ9/pa/CN7oXrbExhY4//bHSrs4DPh+NB4wesMtVL18an4PwYkAMrtD24v6UPFsM4m6/AKV6mGaAsY3biLddxXMryaHLAbwZqG22Gg6ew754jyIYb2VYFQi4YLaS5nzqrzlsnP+Lmz3lvy8Z+aPLWx8dpegA0ySVps1RxdVAAAAFQDiTuqoAzNsZuZiKuyNmICZp76JJQAAAIB2hvLiXXUA9aFP8XAVmceL8VEM4hdXeUcbG8gEjwzLCeMGfUcnG+26z5J863Wfsp2BUUqeZj5dVmSmRreA7zhktp8lFFLhrS3fZ2FikMIWkDlF1FNmlvZUEFzkHGT8BfmqKP8MHBG0NeVeomUY9iXRnjt96cwSH2wBupbMV7fXwgAAAIEAjaiiB9O223WvDe6Es27SDUAngWwQDsoZnP0gufcRx2tJDnPmVUXLpB79Zd9RmpHsWzpRTlJ9rp7ctJySdv1bnYLDRjr6Av+SmJDdvdGrW1KBRVVMfw5JE2hZYNxW7hNHXrLRt3FucAis6PIGe9jnXuw20xDzjh5wcTxyfNeVfdc= ada@example';

export const gpgKey = {
  key: `-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEawF26hYJKwYBBAHaRw8BAQdAYY5mCkhzLra/osK8Zk8JVS8AFkWN9l1jXu2O
e2bqGua0FUFkYSA8YWRhQGV4YW1wbGUuY29tPoiWBBMWCAA+FiEEzGT12VEaGoE2
pizLYOWq+29+9VwFAmsBduoCGwMFCQPCZwAFCwkIBwIGFQoJCAsCBBYCAwECHgEC
F4AACgkQYOWq+29+9VxYlQEA2gjrN47dLN9FiSkxfcM3Ax01ZqUe/STh307kbGS0
Gz8BAMY8K3Fn7LpXz+R5EGNKX8bp0yRE54vgqmJKVMYJfrUI
=G9zx
-----END PGP PUBLIC KEY BLOCK-----`,
  fingerprint: 'CC64F5D9511A1A8136A62CCB60E5AAFB6F7EF55C',
} as const;
