# The end of each way but the user's command: does what $1 says by the functions before it.
case $1 in
find) find_way ;;
boot)
	leave
	enter
	sync
	restart
	;;
back)
	leave
	sync
	reboot
	;;
leave) leave ;;
esac
