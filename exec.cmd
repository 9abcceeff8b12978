@rem The scripts of package.json begin with exec, so that a POSIX shell gives its signals to Node. cmd.exe runs this file.
@%*
